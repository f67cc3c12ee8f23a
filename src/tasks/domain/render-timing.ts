/** Durations of the rendering of one task. They are arguments of its start, so that a test can shorten them. */
export interface RenderTiming {
  /** Silence after which an attempt counts as lost. */
  heartbeatSeconds: number
  /** From the first attempt until the task fails. */
  deadlineSeconds: number
}

/** Durations of the rendering of a video task. */
export interface VideoTiming extends RenderTiming {
  /** From the creation of an off-peak task until it fails. */
  offPeakSeconds: number
}
