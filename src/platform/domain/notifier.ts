/** Wakes whoever waits for a change in this process. */
export interface Notifier {
  /** Number of notifications so far. */
  readonly notifications: number
  notify(): void
  /**
   * Ends with the next notification (true), after so many milliseconds or with the signal (false). Given the
   * `notifications` of an earlier time, it ends at once when there was one since.
   */
  wait(milliseconds: number, signal?: AbortSignal, since?: number): Promise<boolean>
}

export const makeNotifier = (): Notifier => {
  const waiting = new Set<(isNotified: boolean) => void>()
  let notifications = 0
  return {
    get notifications() {
      return notifications
    },
    notify() {
      notifications += 1
      for (const wake of waiting) wake(true)
    },
    wait: (milliseconds, signal, since = notifications) =>
      new Promise((resolve) => {
        if (notifications !== since) return resolve(true)
        const wake = (isNotified: boolean): void => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', end)
          waiting.delete(wake)
          resolve(isNotified)
        }
        const end = (): void => wake(false)
        const timer = setTimeout(end, milliseconds)
        signal?.addEventListener('abort', end)
        waiting.add(wake)
        if (signal?.aborted) end()
      }),
  }
}
