/** Wakes whoever waits for news in this process. */
export interface Bell {
  /** How often it was rung. */
  readonly rings: number
  ring(): void
  /**
   * Ends with the next ring (true), after so many milliseconds or with the signal (false). With the `rings` of an earlier
   * time it has heard what was rung since then.
   */
  heard(milliseconds: number, signal?: AbortSignal, since?: number): Promise<boolean>
}

export const makeBell = (): Bell => {
  const waiting = new Set<(rung: boolean) => void>()
  let rings = 0
  return {
    get rings() {
      return rings
    },
    ring() {
      rings += 1
      for (const wake of waiting) wake(true)
    },
    heard: (milliseconds, signal, since = rings) =>
      new Promise((resolve) => {
        if (rings !== since) return resolve(true)
        const wake = (rung: boolean): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', end)
          waiting.delete(wake)
          resolve(rung)
        }
        const end = (): void => wake(false)
        const timer = setTimeout(end, milliseconds)
        signal?.addEventListener('abort', end)
        waiting.add(wake)
        if (signal?.aborted) end()
      }),
  }
}
