import type { Output } from '../../packages/engines/src/image-job.ts'
import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import type { ClaimedImageTask } from '../../src/tasks/db/image/image-task.ts'
import { pointerOf } from '../../src/tasks/domain/listed-file.ts'
import { pixelLimitIssue } from '../../src/tasks/domain/image/image-size.ts'
import type { AnyImageKind, ImageRequest } from '../../src/tasks/domain/image/image-kind.ts'
import { describeCauses } from '../../src/platform/domain/causes.ts'
import type { Size } from '../../src/platform/domain/size.ts'
import { TaskError } from '../../src/tasks/domain/task-error.ts'
import { timeRender } from '../../src/platform/process/metrics.ts'
import { EngineError, runAttempt } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import type { AttemptOptions, TaskStanding } from '../tasks/task.ts'
import type { LocalDependencies, RenderDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { FetchedInput } from './fetch-inputs.ts'
import type { InspectSource } from './render-video-task.ts'

/** Above the largest result of this interface, 10,060 pixels on each side. */
export const RESULT_PIXELS = 105_000_000

/** A finished image: its path in the scratch folder of the attempt, or its bytes. */
export interface RenderedImage extends Partial<Size> {
  file: string | Uint8Array
  /** Picture that stands for a video. */
  cover?: string
  contentType: string
  extension: string
  /** Name of the file, without the ending. Absent: it is counted. */
  name?: string | undefined
}

/** Makes the images of a task with an engine: one at least. */
export type MakeImages = (
  task: ClaimedImageTask,
  attempt: RenderAttempt,
) => Promise<RenderedImage[]>

/**
 * Makes the activity that renders an image task: claims it with a new fence, has the engine make its images, stores them
 * under the fence and completes the task. Returns how that stands. Issues of the input end the task at once; errors of
 * engine and store are tried three times.
 */
export const makeRenderImageTask =
  (deps: RenderDependencies, make: MakeImages) =>
  (options: AttemptOptions): Promise<TaskStanding> =>
    runAttempt<AnyImageKind>(deps, { ...options, family: 'image' }, async (task, attempt) => {
      const images = await make(task, attempt)
      return {
        files: images.map((image, index) => ({
          ...image,
          name: `${image.name ?? `result-${index + 1}`}.${image.extension}`,
        })),
        picture: findPicture(images),
      }
    })

/** Finds the first that can be seen. */
const findPicture = (images: readonly RenderedImage[]) => {
  const seen = images.find(({ width }) => width !== undefined)
  return seen?.cover ?? seen?.file
}

/** The local engine: fetches the inputs and renders them here. */
export const makeLocalImages =
  (deps: LocalDependencies): MakeImages =>
  async (task, attempt) => {
    const { scratchDir, signal } = attempt
    const inputs = await fetchImages(deps, task, attempt)
    attempt.report('rendering', 0)
    return await timeRender(deps.metrics, task.kind, {
      render: () =>
        deps.engine.render(
          { taskId: task.id, ...requestOf(task), output: outputOf(task), inputs, scratchDir },
          { signal, onProgress: (percent) => attempt.report('rendering', percent) },
        ),
      pixelsOf: (made) => made.reduce((sum, { width, height }) => sum + width * height, 0),
    }).catch((error: unknown) => {
      throw error instanceof TaskError
        ? error
        : new EngineError(describeCauses(error), { cause: error })
    })
  }

/** Which inputs of a task are videos, and what reads those. */
interface VideoInputs {
  isVideo(field: string): boolean
  inspectVideo: InspectSource
}

/** Fetches the images of a task. What a URL led to is validated as an inline image was when it was taken in. */
export const fetchImages = async (
  deps: RenderDependencies,
  task: ClaimedImageTask,
  attempt: RenderAttempt,
  videos?: VideoInputs,
): Promise<Record<string, FetchedInput>> => {
  const inputs = await fetchInputs(deps, {
    task,
    attempt,
    ruleOf: (field) => ({
      pointer: pointerOf(field),
      ...(videos?.isVideo(field)
        ? { limits: deps.limits.video, inspect: (path) => videos.inspectVideo(field, path) }
        : { limits: deps.limits.image, inspect: (path) => probeImage(path, deps.limits) }),
    }),
  })
  const error = inputs['image'] && pixelLimitIssue(requestOf(task), inputs['image'])
  if (error) throw new TaskError('pixel_limit', `/image ${error}`)
  return inputs
}

/** Reads how the pictures of a task are encoded; `auto` leaves it to the engine. */
export const outputOf = ({ output }: Pick<ClaimedImageTask, 'output'>): Output => {
  const { format, quality } = output ?? {}
  return { format: format === undefined ? undefined : FORMATS[format], quality }
}

const FORMATS = { png: 'png', jpeg: 'jpg', webp: 'webp', auto: undefined } as const

export const requestOf = ({ kind, settings }: ClaimedImageTask): ImageRequest =>
  ({ kind, settings }) as ImageRequest
