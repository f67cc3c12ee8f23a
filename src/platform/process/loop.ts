import { describeCauses } from '../domain/causes.ts'
import { makeNotifier, type Notifier } from '../domain/notifier.ts'
import type { Log } from '../log.ts'

export interface Loop {
  /** Lets the current pass end; starts no other. */
  stop(): Promise<void>
}

interface LoopOptions {
  /** Pause after a pass that does not return another one. */
  intervalMs: number
  /** Ends a pause. */
  notifier?: Notifier
  /** The first pass comes after a pause, too. */
  isLate?: boolean
  log: Log
}

/** Milliseconds in which the same failure is logged once. */
const REPEATED_MS = 30_000

/**
 * Runs `pass` again and again, with a pause between: of as many milliseconds as it returns. A pass that throws is logged,
 * and the next one still runs.
 */
export const startLoop = (
  name: string,
  pass: (signal: AbortSignal) => Promise<number | void>,
  { intervalMs, notifier = makeNotifier(), isLate = false, log }: LoopOptions,
): Loop => {
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    if (isLate) await notifier.wait(intervalMs, stopping.signal)
    let logged = { text: '', at: 0 }
    while (!stopping.signal.aborted) {
      const { notifications } = notifier
      const pauseMs = await pass(stopping.signal).catch((error: unknown) => {
        const text = describeCauses(error)
        if (text === logged.text && performance.now() - logged.at < REPEATED_MS) return
        logged = { text, at: performance.now() }
        log.warn({ loop: name, err: error }, 'pass failed; the next ones repeat it')
      })
      await notifier.wait(pauseMs ?? intervalMs, stopping.signal, notifications)
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
