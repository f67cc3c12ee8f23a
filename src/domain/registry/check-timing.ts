/** Durations and tries of the checks of a version. They go with the start of its workflow, so that a test can shorten them. */
export interface CheckTiming {
  /** Silence after which a check counts as lost. */
  heartbeatSeconds: number
  /** Longest one try of a check. */
  deadlineSeconds: number
  /** Tries of a check until an operator is asked. */
  tries: number
  /** Pause after the first failed try; four times as long after each further one. */
  retrySeconds: number
  /** Longest such pause. */
  maxRetrySeconds: number
  /** Longest the reading of the host nodes by a workflow of its own. */
  extractSeconds: number
  /** Longest wait for an upload before the row is looked at again. */
  lookSeconds: number
}
