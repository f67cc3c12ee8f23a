import { probeImage } from '../src/adapters/image-probe.ts'
import { claimImageTask } from '../src/db/image-task/image-task.ts'
import type { ClaimedImageTask } from '../src/db/image-task/image-task.ts'
import { pixelLimitFault } from '../src/domain/image-task/image-size.ts'
import type { ImageRequest } from '../src/domain/image-task/image-kind.ts'
import type { RenderTiming } from '../src/domain/task/render-timing.ts'
import { TaskFault } from '../src/domain/task/task-fault.ts'
import { timeRender } from '../src/process/metrics.ts'
import { EngineError, runAttempt } from './render-attempt.ts'
import type { RenderAttempt } from './render-attempt.ts'
import type { MediaDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { FetchedInput } from './fetch-inputs.ts'
import type { Rendered } from './image-task.ts'
import { storeResults } from './results.ts'

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
  const images = await timeRender(deps.metrics, task.kind, {
    render: () =>
      deps.engine.render(
        { taskId: task.id, ...request, inputs, scratchDir: attempt.scratchDir },
        { signal: attempt.signal, onProgress: (percent) => attempt.report('rendering', percent) },
      ),
    pixelsOf: (made) => made.reduce((sum, { width, height }) => sum + width * height, 0),
  }).catch((error: unknown) => {
    throw error instanceof TaskFault ? error : new EngineError('rendering', { cause: error })
  })
  attempt.report('storing', 100)
  const made = await storeResults(deps, task, {
    files: images.map((image, index) => ({
      ...image,
      name: `result-${index + 1}.${image.extension}`,
    })),
    picture: images[0]?.path ?? '',
    scratchDir: attempt.scratchDir,
  })
  return { fence: task.fence, ...made }
}

/** What a URL led to is judged as an inline image was when it was taken in. */
const checkLimits = (request: ImageRequest, inputs: Record<string, FetchedInput>): void => {
  const fault = inputs['image'] && pixelLimitFault(request, inputs['image'])
  if (fault) throw new TaskFault('pixel_limit', `/image ${fault}`)
}
