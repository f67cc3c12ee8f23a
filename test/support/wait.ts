import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `look` answers something; throws with `what` after the deadline. */
export const waitFor = async <T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  deadlineMs = 30_000,
): Promise<T> => {
  const deadline = Date.now() + deadlineMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await sleep(25)
  }
}
