import { insertCreation } from '../src/db/video-task/creation.ts'
import type { NewCreation } from '../src/db/video-task/creation.ts'
import { insertTaskResults } from '../src/db/task/task-file.ts'
import { enterQueue } from '../src/db/video-task/video-queue.ts'
import { endTask } from '../src/db/task/end-task.ts'
import type { VideoTiming } from '../src/domain/task/render-timing.ts'
import { isTaskErrorCode, TaskError } from '../src/domain/task/task-error.ts'
import { isVideoErrorCode, toVideoError, VideoError } from '../src/domain/video-task/video-error.ts'
import { VIDEO_CANCELLABLE_STATES } from '../src/domain/video-task/video-task.ts'
import type { VideoTaskState } from '../src/domain/video-task/video-task.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { CoreDependencies } from './dependencies.ts'
import type { StoredAttempt } from './image-task.ts'
import { cleanUpAttempts } from './results.ts'

/** Stored files of an attempt, under the folder of its fence. */
export interface StoredVideoAttempt extends StoredAttempt {
  creation: NewCreation
}

/** State of a task once it has entered its owner's queue. */
export interface QueuedVideoTask {
  state: VideoTaskState
  /** It holds a slot; otherwise the signal `admitted` says when. */
  isAdmitted: boolean
  /** Milliseconds until an off-peak task must have ended; null for any other. */
  offPeakMs: number | null
}

/** The moves of a video task around its render. The second of two runs finds the task moved and changes nothing. */
export const makeVideoTaskTransitions = (deps: CoreDependencies) => ({
  /** Moves to queueing, and takes a slot of the owner when one is free and no task waits before it. */
  async enqueueVideoTask(taskId: string, timing: VideoTiming): Promise<QueuedVideoTask> {
    const entered = await unitOfWork(
      deps,
      (sql, enqueue) => enterQueue(sql, taskId, { ...deps, ...timing, enqueue }),
      { at: 'move', of: taskId },
    )
    if (!entered) return { state: 'failed', isAdmitted: false, offPeakMs: null }
    const { state, isAdmitted, offPeakSecondsLeft: left } = entered
    return { state, isAdmitted, offPeakMs: left === null ? null : Math.round(left * 1000) }
  },

  /**
   * Moves to success with the video, if the attempt still holds the fence; without a video, because the task had ended,
   * it moves nothing. Returns the task's state: processing when a newer attempt has claimed it.
   */
  async completeVideoTask(taskId: string, rendered?: StoredVideoAttempt): Promise<VideoTaskState> {
    const isTransitioned = rendered !== undefined && (await complete(deps, taskId, rendered))
    const known = isTransitioned ? { status: 'success', fence: rendered.fence } : undefined
    return (await cleanUpAttempts(deps, taskId, known)) as VideoTaskState
  },

  /**
   * Moves to failed with a code that the caller can act on, and refunds the credits. Returns the task's state: a
   * cancelled task has failed already, one in success stays there.
   */
  async failVideoTask(
    taskId: string,
    reason: { code: string; message?: string },
  ): Promise<VideoTaskState> {
    const { code, message } = toError(reason)
    await unitOfWork(
      deps,
      (sql, enqueue) =>
        endTask(
          sql,
          {
            id: taskId,
            family: 'video',
            to: 'failed',
            error: { code, message },
            from: reason.code === 'start_timeout' ? VIDEO_CANCELLABLE_STATES : undefined,
          },
          { ...deps, enqueue },
        ),
      { at: 'move', of: taskId },
    )
    return (await cleanUpAttempts(deps, taskId)) as VideoTaskState
  },
})

/** Codes that both families share come from the frame around the engine. Callers get them in the words of video routes. */
const toError = ({ code, message }: { code: string; message?: string }): VideoError => {
  if (isVideoErrorCode(code)) return new VideoError(code, message)
  // The words of an unknown failure were not written for callers.
  const error = isTaskErrorCode(code)
    ? new TaskError(code, message)
    : new TaskError('internal_error')
  return toVideoError(error, 'video')
}

const complete = async (
  deps: CoreDependencies,
  id: string,
  { fence, creation, ...made }: StoredVideoAttempt,
): Promise<boolean> =>
  await unitOfWork(
    deps,
    async (sql, enqueue) => {
      const record = async (): Promise<void> => {
        await insertTaskResults(sql, id, made)
        await insertCreation(sql, id, creation)
      }
      const end = { id, family: 'video', to: 'done', fence, record } as const
      return await endTask(sql, end, { ...deps, enqueue })
    },
    { at: 'move', of: id },
  )
