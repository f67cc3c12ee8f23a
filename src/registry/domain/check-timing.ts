/**
 * Durations and attempts of a version's checks. The start of its workflow carries them, so that a test can shorten them.
 */
export interface CheckTiming {
  /** Silence after which a check counts as lost. */
  heartbeatSeconds: number
  /** Longest one attempt of a check. */
  deadlineSeconds: number
  /** Number of attempts at a check before an operator is asked. */
  attempts: number
  /** Pause after the first failed attempt; four times as long after each further one. */
  retrySeconds: number
  /** Longest such pause. */
  maxRetrySeconds: number
}
