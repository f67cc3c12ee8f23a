import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { END_IMAGE } from '../../src/tasks/domain/video/end-image.ts'
import { toVideoError } from '../../src/tasks/domain/video/video-error.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { videoSegment } from '../../src/tasks/domain/video/video-task.ts'
import { videoValues } from '../../src/engines/domain/template/values.ts'
import { getTemplate, preparePictures } from './comfyui-images.ts'
import { finishMade } from './comfyui-results.ts'
import { runOnFleet } from './comfyui-task.ts'
import type { ComfyDependencies } from './dependencies.ts'
import { fetchVideoInputs, makeInspectSource } from './render-video-task.ts'
import type { MakeVideo, RenderedVideoFiles } from './render-video-task.ts'
import { makeVideoJob } from './video-job.ts'

/** The engine comfyui: an instance of a fleet renders, and its video is finished here. */
export const makeComfyVideo =
  (deps: ComfyDependencies): MakeVideo =>
  async (task, attempt) => {
    const { scratchDir } = attempt
    const inputs = await fetchVideoInputs(deps, task, attempt, makeInspectSource(deps, attempt))
    const job = makeVideoJob(task, inputs, { scratchDir, deadlineMs: 0 })
    const kind = videoSegment(task.kind)
    const { images: first, [END_IMAGE]: last, video_creation_id: own, video_url: other } = inputs
    const [start, end] = kind === 'extend' ? [undefined, first] : [first, last]
    const pictures = await preparePictures(
      deps,
      { ...(start && { start }), ...(end && { end }) },
      scratchDir,
    ).catch((error: unknown) => {
      throw error instanceof TaskError ? toVideoError(error, 'image') : error
    })
    const source = own ?? other
    const files = { ...pictures, ...(source && { video: { path: source.path, extension: 'mp4' } }) }
    return await runOnFleet<RenderedVideoFiles[]>({
      deps,
      task,
      attempt,
      template: await getTemplate(deps, { task, kind, files }),
      values: videoValues(task.settings, job, start !== undefined || source !== undefined),
      files,
      copy: async (outputs, dir) => {
        const { metaData, watermark } = job
        const options = { metaData, ...(watermark && { watermark }), signal: attempt.signal }
        const videos: RenderedVideoFiles[] = []
        for (const [index, { path }] of outputs.entries()) {
          const to = join(dir, `video-${index + 1}`)
          await mkdir(to)
          const made = await finishMade(deps, path, { scratchDir: to, ...options })
          const { seconds, fps, width, height, ...files } = made
          videos.push({ ...files, creation: { seconds, fps, width, height } })
        }
        return videos
      },
    })
  }
