import type { Slots } from '../../db/video-task/video-queue.ts'
import type { EngineName } from '../../domain/task/engine.ts'
import type { VideoTiming } from '../../domain/task/render-timing.ts'
import type { ExtendSource } from '../../domain/video-task/video-validation.ts'
import type { TaskDeps } from '../task/deps.ts'

export interface VideoTaskDeps extends TaskDeps, Slots {
  videoTiming: VideoTiming
  /** Finds who renders the tasks of a kind that are made from now on. */
  engineOf(kind: string, owner: string): EngineName
  /** VIDEO_AUTH: whether a credential is needed. */
  videoAuth: 'optional' | 'required'
  /** VIDEO_EXTEND_SOURCE */
  extendSource: ExtendSource
  /** Most credits of an account, charges minus refunds; undefined: no limit. */
  creditLimit: number | undefined
}
