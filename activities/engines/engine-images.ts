import { getTemplateOf } from '../../src/engines/db/template.ts'
import { prepareImages } from './comfyui-images.ts'
import { prepareVideos } from './comfyui-video.ts'
import type { EngineDependencies } from './dependencies.ts'
import { runOnEngine } from './engine-task.ts'
import type { MakeImages, RenderedImage } from './render-image-task.ts'
import type { MakeVideo, RenderedVideoFiles } from './render-video-task.ts'

/** An engine of ENGINES_HTTP: an instance makes the results, and what it made is fetched. */
export const makeEngineImages =
  (deps: EngineDependencies): MakeImages =>
  async (task, attempt) => {
    const { templateId } = task
    const kind = templateId === null ? undefined : await getTemplateOf(deps.sql, templateId)
    const work = await prepareImages(deps, { task, attempt, members: kind?.members })
    // A seed that nobody has given is the engine's own.
    const values = kind ? task.settings : work.values
    return await runOnEngine<RenderedImage[]>({ deps, task, attempt, ...work, values })
  }

/** The same for videos. */
export const makeEngineVideo =
  (deps: EngineDependencies): MakeVideo =>
  async (task, attempt) => {
    const work = await prepareVideos(deps, task, attempt)
    return await runOnEngine<RenderedVideoFiles[]>({ deps, task, attempt, ...work })
  }
