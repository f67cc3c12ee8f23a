import type { RenderedImage } from '../src/adapters/image-engine/image-engine.ts'
import { probeImage } from '../src/adapters/image-probe.ts'
import { claimImageTask } from '../src/db/image-task/image-task.ts'
import type { ClaimedImageTask } from '../src/db/image-task/image-task.ts'
import type { TaskResult } from '../src/db/task/task-file.ts'
import { pixelLimitFault } from '../src/domain/image-task/image-size.ts'
import type { ImageRequest } from '../src/domain/image-task/image-kind.ts'
import type { RenderTiming } from '../src/domain/task/render-timing.ts'
import { TaskFault } from '../src/domain/task/task-fault.ts'
import { EngineError, runAttempt } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import type { MediaDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { FetchedInput } from './fetch-inputs.ts'
import type { Rendered } from './image-task.ts'
import { drawThumbnail, settleResults, storeResult } from './results.ts'

/**
 * Makes the activity that renders an image task: claims it with a new fence, fetches its inputs, runs the engine and
 * stores what it made under the fence. Answers undefined when the task has already ended. Faults of the input end the
 * task at once; faults of engine and store are tried three times.
 */
export const makeRenderImageTask =
  (deps: MediaDependencies) =>
  (taskId: string, timing: RenderTiming): Promise<Rendered | undefined> =>
    runAttempt(deps, { taskId, timing, claim: claimImageTask }, (task, attempt) =>
      render(deps, task, attempt),
    )

const render = async (
  deps: MediaDependencies,
  task: ClaimedImageTask,
  attempt: RenderAttempt,
): Promise<Rendered> => {
  const inputs = await fetchInputs(deps, {
    task,
    attempt,
    ruleOf: (field) => ({
      pointer: `/${field}`,
      limits: deps.limits.image,
      inspect: (path) => probeImage(path, deps.limits),
    }),
  })
  const request = { kind: task.kind, settings: task.settings } as ImageRequest
  checkLimits(request, inputs)
  attempt.report('rendering', 0)
  const images = await deps.engine
    .render(
      { taskId: task.id, ...request, inputs, scratchDir: attempt.scratchDir },
      { signal: attempt.signal, onProgress: (percent) => attempt.report('rendering', percent) },
    )
    .catch((error: unknown) => {
      throw error instanceof TaskFault ? error : new EngineError('rendering', { cause: error })
    })
  attempt.report('storing', 100)
  const thumbnail = await drawThumbnail(deps, task, {
    path: images[0]?.path ?? '',
    scratchDir: attempt.scratchDir,
  })
  // No part of an attempt runs on after its end.
  const results = await storeImages(deps, task, images).finally(() => thumbnail.stored)
  const made = { results, ...(await thumbnail.stored) }
  await settleResults(deps, task)
  return { fence: task.fence, ...made }
}

const storeImages = async (
  deps: MediaDependencies,
  task: ClaimedImageTask,
  images: readonly RenderedImage[],
): Promise<TaskResult[]> => {
  const results: TaskResult[] = []
  for (const image of images) {
    const name = `result-${results.length + 1}.${image.extension}`
    results.push(await storeResult(deps, task, { ...image, name }))
  }
  return results
}

/** What a URL led to is judged as an inline image was when it was taken in. */
const checkLimits = (request: ImageRequest, inputs: Record<string, FetchedInput>): void => {
  const fault = inputs['image'] && pixelLimitFault(request, inputs['image'])
  if (fault) throw new TaskFault('pixel_limit', `/image ${fault}`)
}
