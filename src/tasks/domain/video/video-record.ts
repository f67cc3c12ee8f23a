import { describeWait } from '../waits-for.ts'
import { addsMusic, type MusicSettings } from './video-defaults.ts'
import type { VideoErrorCode } from './video-error.ts'
import type { Labels } from '../task-options.ts'
import { VIDEO_TERMINAL_STATES } from './video-task.ts'
import type { VideoCreation, VideoCreations, VideoTaskState } from './video-task.ts'

interface VideoFacts {
  id: string
  /** File among the results. */
  name: string
  seconds: number
  fps: number
  width: number
  height: number
}

/** Files of the n-th video of a task, from 1. */
export const videoFiles = (number: number) => {
  const suffix = number > 1 ? `-${number}` : ''
  return {
    video: `video${suffix}.mp4`,
    cover: `cover${suffix}.jpg`,
    watermarked: `watermarked${suffix}.mp4`,
  }
}

/** Values from which the creations body is made. */
export interface VideoTaskFacts {
  id: string
  state: VideoTaskState
  /** Charged with the creation. */
  charged: number
  payload: string | null
  settings: MusicSettings
  offPeak: boolean
  progress: number
  /** Reasons of machines that do not take it; null unless it waits for one. */
  waitsFor: string[] | null
  deletedAt: string | null
  error: { code: VideoErrorCode; message: string; engine_error?: string } | null
  /** Videos in the order of their files. */
  creations: readonly VideoFacts[]
  /** Names of the files, in order. */
  results: readonly string[]
  labels: Labels | null
}

/**
 * Makes the body of a task that its status route returns and a callback carries.
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
  ...(task.error?.engine_error !== undefined && { engine_error: task.error.engine_error }),
  credits: task.state === 'failed' ? 0 : task.charged,
  ...(task.payload === null ? {} : { payload: task.payload }),
  bgm: addsMusic(task.settings),
  off_peak: task.offPeak,
  progress: task.progress,
  ...describeWait(task.waitsFor),
  creations: listCreations(task, sign),
  ...(task.deletedAt === null ? {} : { deleted_at: task.deletedAt }),
})

const listCreations = (
  { creations, results }: VideoTaskFacts,
  sign: (name: string) => string,
): VideoCreation[] =>
  creations.map(({ id, name, seconds, fps, width, height }, index) => {
    const { cover, watermarked } = videoFiles(index + 1)
    return {
      id,
      url: sign(name),
      cover_url: sign(cover),
      watermarked_url: results.includes(watermarked) ? sign(watermarked) : '',
      moderation_url: [],
      video: { duration: seconds, fps, resolution: { width, height } },
    }
  })

/**
 * Restores the facts of a task as they were at its transition to a state. The result and the error come only with the
 * end. A later attempt at an event sends the same as the first one, however far the render is by then.
 */
export const videoFactsAt = (task: VideoTaskFacts, state: VideoTaskState): VideoTaskFacts =>
  VIDEO_TERMINAL_STATES.includes(state)
    ? task
    : { ...task, state, progress: 0, waitsFor: null, error: null, creations: [], results: [] }
