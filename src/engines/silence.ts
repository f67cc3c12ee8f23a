/** Silence of a machine: for how long, and why its last request had no response. */
export interface Silence {
  ms: number
  reason: string
}

/** Says that a machine cannot be asked, and why. A status of 5xx is a response, too. */
export const describeSilence = ({ reason }: Pick<Silence, 'reason'>): string =>
  reason.startsWith('responded with ')
    ? reason.replace('responded', 'responds')
    : `does not respond: ${reason}`

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
