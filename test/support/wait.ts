import { setTimeout as sleep } from 'node:timers/promises'

/** Each look costs the test, the service and its servers some 5 ms: a long wait looks less often, but 4 times a second at least. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 25), 250)

/** Waits until `look` answers something; throws with `what` after the deadline. */
export const waitFor = async <T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  deadlineMs = 60_000,
): Promise<T> => {
  const start = Date.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    const waitedMs = Date.now() - start
    if (waitedMs > deadlineMs) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await sleep(pauseAfter(waitedMs))
  }
}
