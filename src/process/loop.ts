import { setTimeout as sleep } from 'node:timers/promises'

import type { Log } from '../log.ts'

export interface Loop {
  /** Lets the current pass end; starts no other. */
  stop(): Promise<void>
}

/** Runs `pass` again and again, with a pause between. A pass that throws is logged, and the next one still runs. */
export const startLoop = (
  name: string,
  pass: (signal: AbortSignal) => Promise<void>,
  { intervalMs, log }: { intervalMs: number; log: Log },
): Loop => {
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pass(stopping.signal).catch((error: unknown) => {
        log.warn({ loop: name, err: error }, 'pass failed; the next one repeats it')
      })
      await pause(intervalMs, stopping.signal)
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

/** Pauses; a stop meanwhile ends the pause, and is no error. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {})
