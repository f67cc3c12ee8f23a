/** Silence of a machine: for how long, and why its last request had no response. */
export interface Silence {
  ms: number
  reason: string
}

/** Watches whether a machine responds. */
export const watchSilence = () => {
  let since: number | undefined
  let reason = ''
  return {
    silence: (): Silence | undefined =>
      since === undefined ? undefined : { ms: performance.now() - since, reason },
    doubt(why: string): void {
      since ??= performance.now()
      reason = why
    },
    end: () => void (since = undefined),
  }
}
