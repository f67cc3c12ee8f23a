import { mkdir } from 'node:fs/promises'

import { copyAnimation, readAnimation } from '../../packages/engines/src/animation.ts'
import { readContainer } from '../../packages/engines/src/container.ts'
import type { FinishVideo } from '../../packages/engines/src/finish-video.ts'
import {
  chooseFormat,
  copyPicture,
  isOutputFormat,
} from '../../packages/engines/src/raster-file.ts'
import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import type { ClaimedImageTask } from '../../src/tasks/db/image/image-task.ts'
import { VideoError } from '../../src/tasks/domain/video/video-error.ts'
import type { MadeOutput } from './comfyui-place.ts'
import type { HostDependencies } from './dependencies.ts'
import { EngineError, type RenderAttempt } from './render-attempt.ts'
import { outputOf, RESULT_PIXELS, type RenderedImage } from './render-image-task.ts'

interface Outputs {
  outputs: readonly MadeOutput[]
  /** Folder of the attempt for them. */
  dir: string
  attempt: RenderAttempt
  /** Ending of the input. */
  extension: string | undefined
  task: Pick<ClaimedImageTask, 'output'>
  /** Films, sounds and texts are results, too. */
  isCustom: boolean
}

/** Makes the results of what an instance has made: without the graph's texts and settings, which stand in its files. */
export const finishOutputs = async (
  deps: Pick<HostDependencies, 'finishVideo' | 'finishSound'>,
  { outputs, dir, attempt: { signal }, extension, task, isCustom }: Outputs,
): Promise<RenderedImage[]> => {
  const finish = async ({ path, isText }: MadeOutput, to: string): Promise<RenderedImage> => {
    if (isText) return { file: path, extension: 'txt', contentType: 'text/plain; charset=utf-8' }
    await mkdir(to)
    const control = { scratchDir: to, signal }
    if (isCustom && (await readContainer(path)) !== undefined) {
      const { video, ...film } = await finishMade(deps, path, control)
      return { ...film, file: video, extension: 'mp4', contentType: 'video/mp4' }
    }
    const sound = isCustom ? await deps.finishSound(path, control) : undefined
    return sound ?? (await finishPicture(path, `${to}/picture`, { task, input: extension }))
  }
  const made: RenderedImage[] = []
  for (const [index, output] of outputs.entries()) {
    const finished = await finish(output, `${dir}/result-${index + 1}`).catch((cause: unknown) => {
      if (signal.aborted || cause instanceof VideoError) throw cause
      throw new EngineError('what was made is damaged, or no result', { cause })
    })
    made.push({ ...finished, name: output.name })
  }
  return made
}

/** Makes the result of what may be a video. @throws EngineError when it is none, VideoError of a watermark */
export const finishMade = (
  { finishVideo }: Pick<HostDependencies, 'finishVideo'>,
  ...[path, control]: Parameters<FinishVideo>
): ReturnType<FinishVideo> =>
  finishVideo(path, control).catch((cause: unknown) => {
    if (control.signal.aborted || cause instanceof VideoError) throw cause
    throw new EngineError('what was made is no video', { cause })
  })

/** A still picture is encoded once more; one that moves keeps its frames. */
const finishPicture = async (
  path: string,
  file: string,
  { task, input = 'png' }: { task: Outputs['task']; input?: string | undefined },
): Promise<RenderedImage> => {
  const probed = await probeImage(path, { maxPixels: RESULT_PIXELS })
  const moving = await readAnimation(path, probed)
  if (moving !== undefined) {
    await copyAnimation(path, file, moving)
    const { contentType, width, height } = probed
    return { file, extension: moving, contentType, width, height }
  }
  const format =
    task.output?.format === 'auto' && isOutputFormat(probed.extension)
      ? probed.extension
      : chooseFormat({ format: input, hasAlpha: probed.hasAlpha }, outputOf(task))
  return { file, ...(await copyPicture(path, file, { ...outputOf(task), format })) }
}
