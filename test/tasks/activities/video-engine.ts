import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ApplicationFailure } from '@temporalio/activity'

import type { MediaDependencies } from '../../support/media.ts'
import {
  makeLocalVideo,
  makeRenderVideoTask,
} from '../../../activities/engines/render-video-task.ts'
import type { AttemptOptions, TaskStanding } from '../../../activities/tasks/task.ts'
import type { RenderControl, RenderedVideo } from '../../../packages/engines/src/video-job.ts'
import type { VideoEngine, VideoJob } from '../../../src/engines/video-engine/video-engine.ts'
import type { VideoTiming } from '../../../src/tasks/domain/render-timing.ts'
import {
  admissionOf,
  findDone,
  makeEnvironment,
  TIMING,
  type AttemptAs,
  type Done,
} from './place.ts'

/** Work of a test's engine on a job: a small function with the engine's own contract. */
export type VideoWork = (job: VideoJob, control: RenderControl) => Promise<void> | void

const SOURCE = {
  container: 'mov',
  stream: 0,
  width: 320,
  height: 180,
  seconds: 5,
  hasAudio: false,
} as const

/** Settings of a task that continues a video. */
export const EXTEND = {
  kind: 'extend',
  settings: { model: 'videoq2-turbo', duration: 5, resolution: '540p' },
} as const

/** An engine whose files are the same few letters each time, once its work is done. */
export const makeVideoEngine = (work: VideoWork = () => {}): VideoEngine => ({
  name: 'test',
  probeSource: () => Promise.resolve(SOURCE),
  render: async (job, control): Promise<RenderedVideo> => {
    await work(job, control)
    const write = async (name: string): Promise<string> => {
      const path = join(job.scratchDir, name)
      await writeFile(path, `bytes of ${name}`)
      return path
    }
    return {
      video: await write('made.mp4'),
      cover: await write('made.jpg'),
      ...(job.watermark && { watermarked: await write('marked.mp4') }),
      width: job.width,
      height: job.height,
      fps: 24,
      frames: job.seconds * 24,
      hasAudio: false,
    }
  },
})

export const VIDEO_TIMING: VideoTiming = { ...TIMING, offPeakSeconds: 172_800 }

/** Runs one attempt at a task as a worker would; returns how the task stands then. */
export const attemptVideo = async (
  deps: MediaDependencies,
  id: string,
  {
    environment = makeEnvironment(),
    timing = VIDEO_TIMING,
    admission,
  }: AttemptAs<VideoTiming> = {},
): Promise<TaskStanding> =>
  await environment.run<
    [AttemptOptions<VideoTiming>],
    TaskStanding,
    ReturnType<typeof makeRenderVideoTask>
  >(makeRenderVideoTask(deps, makeLocalVideo(deps)), {
    taskId: id,
    admission: admission ?? (await admissionOf(deps.sql, id)),
    timing,
  })

/** Runs one attempt; returns what the task keeps once it is done, and undefined where it is not. */
export const renderVideo = async (
  deps: MediaDependencies,
  id: string,
  options?: AttemptAs<VideoTiming>,
): Promise<Done | undefined> => {
  const { state } = await attemptVideo(deps, id, options)
  return state === 'done' ? await findDone(deps.sql, id) : undefined
}

/** Runs attempts that all fail; returns the final failure as the workflow gets it, and how many it took. */
export const failForGood = async (
  deps: MediaDependencies,
  id: string,
  options?: AttemptAs<VideoTiming>,
): Promise<{ code: string; message: string; attempts: number }> => {
  for (let attempts = 1; ; attempts += 1)
    try {
      await renderVideo(deps, id, options)
      throw new Error('the attempt succeeded')
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error
      if (error.nonRetryable) return { code: String(error.type), message: error.message, attempts }
    }
}
