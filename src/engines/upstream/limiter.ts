import { setTimeout as sleep } from 'node:timers/promises'

import { makeNotifier } from '../../platform/domain/notifier.ts'

export interface Limits {
  perSecond: number
  atOnce: number
}

export interface Limiter {
  /** Runs work in its turn. Rejects with the reason of the signal when that comes first. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Begins nothing for so long. */
  hold(ms: number): void
}

/** A second at most: a turn that was missed is looked for again. */
const POLL_MS = 1000

/** Spaces the requests of this process to one upstream, and bounds how many are under way. */
export const makeLimiter = ({ perSecond, atOnce }: Limits): Limiter => {
  const notifier = makeNotifier()
  let running = 0
  let nextAt = 0
  const takeTurn = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      signal.throwIfAborted()
      const waitMs = nextAt - performance.now()
      if (waitMs > 0) await sleep(waitMs, undefined, { signal })
      else if (running >= atOnce) await notifier.wait(POLL_MS, signal)
      else break
    }
    // In the same turn of the event loop as the check: others wait for theirs.
    running += 1
    nextAt = Math.max(nextAt, performance.now()) + 1000 / perSecond
  }
  return {
    async run(signal, work) {
      await takeTurn(signal)
      try {
        return await work()
      } finally {
        running -= 1
        notifier.notify()
      }
    },
    hold(ms) {
      nextAt = Math.max(nextAt, performance.now() + ms)
    },
  }
}
