import { join } from 'node:path'

import { chooseFormat, copyPicture } from '../src/adapters/image-engine/raster-file.ts'
import { probeImage } from '../src/adapters/image-probe.ts'
import type { ProbedImage } from '../src/adapters/image-probe.ts'
import { TaskError } from '../src/domain/task/task-error.ts'
import { chooseTemplate } from '../src/domain/template/template.ts'
import type { Template } from '../src/domain/template/template.ts'
import { imageValues } from '../src/domain/template/values.ts'
import type { FleetTask } from './comfyui-place.ts'
import { runOnFleet } from './comfyui-task.ts'
import type { ComfyDependencies } from './dependencies.ts'
import { EngineError } from './render-attempt.ts'
import { fetchImages, requestOf } from './render-image-task.ts'
import type { MakeImages, RenderedImage } from './render-image-task.ts'

/** Above the largest result of this interface, 10,060 pixels on each side. */
const RESULT_PIXELS = 105_000_000

/** The engine comfyui: an instance of a fleet renders, and what it made is fetched. */
export const makeComfyImages =
  (deps: ComfyDependencies): MakeImages =>
  async (task, attempt) => {
    const inputs = await fetchImages(deps, task, attempt)
    const files = await preparePictures(deps, inputs, attempt.scratchDir)
    const light =
      files['transfer_light_from_lightmap'] ?? files['transfer_light_from_reference_image']
    const all = { ...files, ...(light && { light }) }
    const source = inputs['image'] ?? { width: 1, height: 1 }
    return await runOnFleet<RenderedImage[]>({
      deps,
      task,
      attempt,
      template: getTemplate(deps, { id: task.id, kind: task.kind, files: all }),
      values: imageValues(requestOf(task), source, task.id),
      files: all,
      copy: (paths, dir) =>
        Promise.all(
          paths.map((path, index) =>
            finish(path, join(dir, `result-${index + 1}`), files['image']?.extension),
          ),
        ),
    })
  }

/**
 * Finds the template of a task.
 * @throws TaskError when there is none for its inputs
 */
export const getTemplate = (
  { fleet, log }: ComfyDependencies,
  { id, kind, files }: { id: string; kind: string; files: FleetTask<unknown>['files'] },
): Template => {
  const template = chooseTemplate(fleet.templates, kind, Object.keys(files))
  if (template) return template
  log.error(
    { task_id: id, kind, inputs: Object.keys(files) },
    'COMFYUI_TEMPLATES has no template for a task',
  )
  throw new TaskError('engine_failed', 'This service has no workflow for such a task.')
}

/** Puts pictures into a form that every node reads as this service does: one frame, upright, sRGB, 8 bits. */
export const preparePictures = async (
  { limits }: ComfyDependencies,
  inputs: Readonly<Record<string, { path: string }>>,
  scratchDir: string,
): Promise<Record<string, { path: string; extension: string }>> => {
  const prepared: Record<string, { path: string; extension: string }> = {}
  for (const [name, { path }] of Object.entries(inputs)) {
    const probed = await probeImage(path, limits)
    const plain = { path: join(scratchDir, `plain-${name}`), extension: 'png' }
    if (!probed.isPlain)
      await copyPicture(path, plain.path, 'png').catch((cause: unknown) => {
        throw new TaskError('image_invalid', undefined, { cause })
      })
    prepared[name] = probed.isPlain ? { path, extension: probed.extension } : plain
  }
  return prepared
}

/** A graph's texts and settings stand in what an instance has made, so it is encoded once more. */
const finish = async (
  path: string,
  to: string,
  input: string | undefined,
): Promise<RenderedImage> => {
  try {
    const { hasAlpha }: ProbedImage = await probeImage(path, { maxPixels: RESULT_PIXELS })
    const extension = chooseFormat({ format: input ?? 'png', hasAlpha })
    const contentType = extension === 'png' ? 'image/png' : 'image/jpeg'
    return { path: to, extension, contentType, ...(await copyPicture(path, to, extension)) }
  } catch (cause) {
    throw new EngineError('what ComfyUI made is no image', { cause })
  }
}
