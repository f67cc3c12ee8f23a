import { END_IMAGE } from '../src/domain/video-task/end-image.ts'
import { toVideoError, VideoError } from '../src/domain/video-task/video-error.ts'
import { TaskError } from '../src/domain/task/task-error.ts'
import { videoSegment } from '../src/domain/video-task/video-task.ts'
import { videoValues } from '../src/domain/template/values.ts'
import { getTemplate, preparePictures } from './comfyui-images.ts'
import { runOnFleet } from './comfyui-task.ts'
import type { ComfyDependencies } from './dependencies.ts'
import { EngineError } from './render-attempt.ts'
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
    return await runOnFleet<RenderedVideoFiles>({
      deps,
      task,
      attempt,
      template: getTemplate(deps, { id: task.id, kind, files }),
      values: videoValues(task.settings, job, start !== undefined || source !== undefined),
      files,
      record: attempt.record,
      copy: async ([path = '']) => {
        const { metaData, watermark } = job
        const finished = await deps
          .finishVideo(path, {
            scratchDir,
            signal: attempt.signal,
            metaData,
            ...(watermark && { watermark }),
          })
          .catch((cause: unknown) => {
            if (attempt.signal.aborted || cause instanceof VideoError) throw cause
            throw new EngineError('what ComfyUI made is no video', { cause })
          })
        const { seconds, fps, width, height, ...made } = finished
        return { ...made, creation: { seconds, fps, width, height } }
      },
    })
  }
