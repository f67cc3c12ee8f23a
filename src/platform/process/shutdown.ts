import type { Log } from '../log.ts'

/**
 * Calls `close` at the first SIGTERM or SIGINT. Exits 0 when it is done, 1 when it took longer than `limitMs`; a second
 * signal exits at once. This is the only handler of a process: the Temporal runtime is installed without its own.
 */
export const closeOnSignal = (
  close: () => Promise<void>,
  { limitMs, log }: { limitMs: number; log: Log },
): void => {
  let closing = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (closing) process.exit(1)
    closing = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error(`not stopped within ${limitMs} ms`)
      process.exit(1)
    }, limitMs).unref()
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}
