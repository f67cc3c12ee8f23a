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
import type { FleetTask } from './comfyui-place.ts'
import type { ComfyDependencies, HostDependencies } from './dependencies.ts'
import { fetchVideoInputs, makeInspectSource } from './render-video-task.ts'
import type { MakeVideo, RenderedVideoFiles } from './render-video-task.ts'
import { makeVideoJob } from './video-job.ts'

/** The engine comfyui: an instance of a fleet renders, and its video is finished here. */
export const makeComfyVideo =
  (deps: ComfyDependencies): MakeVideo =>
  async (task, attempt) => {
    const work = await prepareVideos(deps, task, attempt)
    const template = await getTemplate(deps, {
      task,
      kind: videoSegment(task.kind),
      files: work.files,
    })
    return await runOnFleet<RenderedVideoFiles[]>({ deps, task, attempt, template, ...work })
  }

/** Fetches the inputs of a video task, and finds its values and what is done with what is made. */
export const prepareVideos = async (
  deps: HostDependencies,
  ...[task, attempt]: Parameters<MakeVideo>
): Promise<Pick<FleetTask<RenderedVideoFiles[]>, 'values' | 'files' | 'copy'>> => {
  const { scratchDir } = attempt
  const inputs = await fetchVideoInputs(deps, task, attempt, makeInspectSource(deps, attempt))
  const job = makeVideoJob(task, inputs, { scratchDir, deadlineMs: 0 })
  const { images: first, [END_IMAGE]: last, video_creation_id: own, video_url: other } = inputs
  const [start, end] = videoSegment(task.kind) === 'extend' ? [undefined, first] : [first, last]
  const pictures = await preparePictures(
    deps,
    { ...(start && { start }), ...(end && { end }) },
    scratchDir,
  ).catch((error: unknown) => {
    throw error instanceof TaskError ? toVideoError(error, 'image') : error
  })
  const source = own ?? other
  return {
    values: videoValues(task.settings, job, start !== undefined || source !== undefined),
    files: { ...pictures, ...(source && { video: { path: source.path, extension: 'mp4' } }) },
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
  }
}
