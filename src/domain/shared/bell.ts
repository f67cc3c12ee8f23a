/** Wakes whoever waits for news in this process. Nobody hears a ring from before the wait. */
export interface Bell {
  ring(): void
  /** Ends with the next ring (true), after so many milliseconds or with the signal (false). */
  heard(milliseconds: number, signal: AbortSignal): Promise<boolean>
}

export const makeBell = (): Bell => {
  const waiting = new Set<(rung: boolean) => void>()
  return {
    ring() {
      for (const wake of waiting) wake(true)
    },
    heard: (milliseconds, signal) =>
      new Promise((resolve) => {
        const wake = (rung: boolean): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          waiting.delete(wake)
          resolve(rung)
        }
        const end = (): void => wake(false)
        const timer = setTimeout(end, milliseconds)
        signal.addEventListener('abort', end)
        waiting.add(wake)
        if (signal.aborted) end()
      }),
  }
}
