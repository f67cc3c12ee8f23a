import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { copyPicture } from '../../packages/engines/src/raster-file.ts'
import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import { recordWait } from '../../src/engines/db/placement.ts'
import { getTemplateOf } from '../../src/engines/db/template.ts'
import { memberOf } from '../../src/tasks/domain/listed-file.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { VideoError } from '../../src/tasks/domain/video/video-error.ts'
import {
  mediumOf,
  withFields,
  type Members,
} from '../../src/engines/domain/template/custom-kind.ts'
import { chooseTemplate, findBroken } from '../../src/engines/domain/template/template.ts'
import type { Template } from '../../src/engines/domain/template/template.ts'
import { customValues, imageValues } from '../../src/engines/domain/template/values.ts'
import type { ClaimedImageTask } from '../../src/tasks/db/image/image-task.ts'
import { PutBackError } from './breaker.ts'
import type { FleetTask } from './comfyui-place.ts'
import { finishOutputs } from './comfyui-results.ts'
import { runOnFleet } from './comfyui-task.ts'
import type { ComfyDependencies, HostDependencies } from './dependencies.ts'
import type { FetchedInput } from './fetch-inputs.ts'
import type { RenderAttempt } from './render-attempt.ts'
import { fetchImages, requestOf } from './render-image-task.ts'
import type { MakeImages, RenderedImage } from './render-image-task.ts'
import { makeInspectSource } from './render-video-task.ts'

/** The engine comfyui: an instance of a fleet renders, and what it made is fetched. */
export const makeComfyImages =
  (deps: ComfyDependencies): MakeImages =>
  async (task, attempt) => {
    const { kind, templateId } = task
    // The folder may not have it any more.
    const custom = templateId === null ? undefined : await getTemplateOf(deps.sql, templateId)
    const work = await prepareImages(deps, { task, attempt, members: custom?.members })
    return await runOnFleet<RenderedImage[]>({
      deps,
      task,
      attempt,
      template: custom
        ? withFields(custom.content, custom.members)
        : await getTemplate(deps, { task, kind, files: work.files }),
      isEarlier: custom !== undefined && !isCurrent(deps, custom.content),
      ...work,
    })
  }

interface ImageWork {
  task: ClaimedImageTask
  attempt: RenderAttempt
  /** Members of a custom kind. */
  members: Members | undefined
}

/** Fetches the inputs of an image task, and finds its values and what is done with what is made. */
export const prepareImages = async (
  deps: HostDependencies,
  { task, attempt, members }: ImageWork,
): Promise<Pick<FleetTask<RenderedImage[]>, 'values' | 'files' | 'copy'>> => {
  const { id, settings } = task
  const isVideo = (field: string): boolean => mediumOf(members?.[memberOf(field)] ?? {}) === 'video'
  const inspect = makeInspectSource(deps, attempt, 0)
  const inputs = await fetchImages(deps, task, attempt, {
    isVideo,
    inspectVideo: (field, path) =>
      inspect(field, path).catch((error: unknown) => {
        throw error instanceof VideoError ? toTaskError(error) : error
      }),
  })
  const [videos, images] = [true, false].map((isWanted) =>
    Object.entries(inputs).filter(([field]) => isVideo(field) === isWanted),
  ) as [[string, FetchedInput][], [string, FetchedInput][]]
  const prepared = {
    ...(await preparePictures(deps, Object.fromEntries(images), attempt.scratchDir)),
    ...Object.fromEntries(videos.map(([field, { path }]) => [field, { path, extension: 'mp4' }])),
  }
  const light =
    prepared['transfer_light_from_lightmap'] ?? prepared['transfer_light_from_reference_image']
  const files = { ...prepared, ...(!members && light && { light }) }
  const source = inputs['image'] ?? { width: 1, height: 1 }
  const extension = (prepared['image'] ?? prepared[images[0]?.[0] ?? ''])?.extension
  return {
    values: members ? customValues(settings, id) : imageValues(requestOf(task), source, id),
    files,
    copy: (outputs, dir) =>
      finishOutputs(deps, {
        outputs,
        dir,
        attempt,
        extension,
        task,
        isCustom: members !== undefined,
      }),
  }
}

/** True of a graph as the folder has it. */
const isCurrent = ({ fleet }: ComfyDependencies, { name, graph }: Template): boolean => {
  const current = fleet.custom.find((template) => template.name === name)
  return current !== undefined && isDeepStrictEqual(current.graph, graph)
}

const toTaskError = (error: VideoError): TaskError => {
  const code = error.code === 'VideoFormatInvalid' ? 'video_invalid' : 'engine_failed'
  return new TaskError(code, error.message, { cause: error })
}

/**
 * Finds the template of a task.
 * @throws TaskError when there is none for its inputs; PutBackError while the file of its template cannot be used
 */
export const getTemplate = async (
  { sql, fleet, log }: ComfyDependencies,
  { task, kind, files }: Pick<FleetTask<unknown>, 'task' | 'files'> & { kind: string },
): Promise<Template> => {
  const inputs = Object.keys(files)
  const template = chooseTemplate(fleet.templates, kind, inputs)
  const broken = findBroken(Object.keys(fleet.unusable), { kind, files: inputs, chosen: template })
  if (broken !== undefined) {
    const reasons = [`${broken} in COMFYUI_TEMPLATES cannot be used`]
    await recordWait(sql, { ...task, reasons })
    throw new PutBackError(`template:${broken}`)
  }
  if (template) return template
  log.error({ task_id: task.id, kind, inputs }, 'COMFYUI_TEMPLATES has no template for a task')
  throw new TaskError('engine_failed', 'This service has no workflow for such a task.')
}

/** Puts pictures into a form that every node reads as this service does: one frame, upright, sRGB, 8 bits. */
export const preparePictures = async (
  { limits }: Pick<HostDependencies, 'limits'>,
  inputs: Readonly<Record<string, { path: string }>>,
  scratchDir: string,
): Promise<Record<string, { path: string; extension: string }>> => {
  const prepared: Record<string, { path: string; extension: string }> = {}
  for (const [name, { path }] of Object.entries(inputs)) {
    const probed = await probeImage(path, limits)
    const plain = { path: join(scratchDir, `plain-${name}`), extension: 'png' }
    if (!probed.isPlain)
      await copyPicture(path, plain.path, { format: 'png' }).catch((cause: unknown) => {
        throw new TaskError('image_invalid', undefined, { cause })
      })
    prepared[name] = probed.isPlain ? { path, extension: probed.extension } : plain
  }
  return prepared
}
