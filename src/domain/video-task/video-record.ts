import type { VideoErrorCode } from './video-error.ts'
import { VIDEO_TERMINAL_STATES } from './video-task.ts'
import type { VideoCreation, VideoCreations, VideoTaskState } from './video-task.ts'

/** What the creations body is made from. */
export interface VideoTaskFacts {
  id: string
  state: VideoTaskState
  /** Charged with the creation. */
  charged: number
  payload: string | null
  settings: { bgm?: boolean | null }
  offPeak: boolean
  progress: number
  error: { code: VideoErrorCode; message: string } | null
  creation: { id: string; seconds: number; fps: number; width: number; height: number } | null
  /** Names of the files, in order. */
  results: readonly string[]
}

/**
 * A task as its status route answers it and a callback carries it.
 * @param sign makes the link to a file of the task
 */
export const makeVideoCreations = (
  task: VideoTaskFacts,
  sign: (name: string) => string,
): VideoCreations => ({
  id: task.id,
  state: task.state,
  err_code: task.error?.code ?? '',
  err_msg: task.error?.message ?? '',
  credits: task.state === 'failed' ? 0 : task.charged,
  ...(task.payload === null ? {} : { payload: task.payload }),
  bgm: task.settings.bgm ?? false,
  off_peak: task.offPeak,
  progress: task.progress,
  creations: listCreations(task, sign),
})

const listCreations = (
  { creation, results }: VideoTaskFacts,
  sign: (name: string) => string,
): VideoCreation[] => {
  if (!creation) return []
  const { id, seconds, fps, width, height } = creation
  return [
    {
      id,
      url: sign('video.mp4'),
      cover_url: sign('cover.jpg'),
      watermarked_url: results.includes('watermarked.mp4') ? sign('watermarked.mp4') : '',
      moderation_url: [],
      video: { duration: seconds, fps, resolution: { width, height } },
    },
  ]
}

/**
 * The facts of a task as they were when it moved to a state. The result and the error come only with the end. A later
 * try of an event tells the same as the first one, however far the render is by then.
 */
export const videoFactsAt = (task: VideoTaskFacts, state: VideoTaskState): VideoTaskFacts =>
  VIDEO_TERMINAL_STATES.includes(state)
    ? task
    : { ...task, state, progress: 0, error: null, creation: null, results: [] }
