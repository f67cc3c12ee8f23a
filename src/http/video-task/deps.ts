import type { VideoTiming } from '../../domain/task/render-timing.ts'
import type { ExtendSource } from '../../domain/video-task/video-judge.ts'
import type { TaskDeps } from '../task/deps.ts'

export interface VideoTaskDeps extends TaskDeps {
  videoTiming: VideoTiming
  /** VIDEO_AUTH: whether a credential is needed. */
  videoAuth: 'optional' | 'required'
  /** VIDEO_EXTEND_SOURCE */
  extendSource: ExtendSource
  /** Tasks of an owner that may hold a slot at once. */
  slots: number
  /** Most credits of an owner, charges minus refunds; undefined: no limit. */
  creditLimit: number | undefined
}
