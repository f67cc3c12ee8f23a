import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

import type { RenderedImage } from '../src/adapters/image-engine/image-engine.ts'
import { claimImageTask, holdsFence } from '../src/db/image-task.ts'
import type { ClaimedTask } from '../src/db/image-task.ts'
import type { TaskResult } from '../src/db/task-file.ts'
import { pixelLimitFault } from '../src/domain/image-size.ts'
import type { ImageRequest } from '../src/domain/image-kind.ts'
import type { RenderTiming } from '../src/domain/render-timing.ts'
import { TaskFault } from '../src/domain/task-fault.ts'
import { failpoint } from '../src/failpoint.ts'
import { EngineError, retryLater, runAttempt } from './attempt.ts'
import type { Attempt } from './attempt.ts'
import type { MediaDependencies } from './dependencies.ts'
import { fetchInputs } from './fetch-inputs.ts'
import type { FetchedImage } from './fetch-inputs.ts'
import type { Rendered } from './image-task.ts'

/** Attempts in all, those lost with a killed worker included: a task that kills its worker each time must end. */
const MAX_CLAIMS = 10

/**
 * Makes the activity that renders an image task: claims it with a new fence, fetches its inputs, runs the engine and
 * stores what it made under the fence. Answers undefined when the task has already ended. Faults of the input end the
 * task at once; faults of engine and store are tried three times.
 */
export const makeRenderImageTask =
  (deps: MediaDependencies) =>
  async (taskId: string, timing: RenderTiming): Promise<Rendered | undefined> => {
    const task = await deps.sql
      .begin((sql) => claimImageTask(sql, taskId))
      .catch((error: unknown) => {
        throw retryLater(deps, error, taskId)
      })
    if (!task) return undefined
    return await runAttempt(deps, { task, ...timing }, (attempt) => render(deps, task, attempt))
  }

const render = async (
  deps: MediaDependencies,
  task: ClaimedTask,
  attempt: Attempt,
): Promise<Rendered> => {
  if (task.fence > MAX_CLAIMS) throw new TaskFault('engine_failed', 'The task was tried 10 times.')
  const inputs = await fetchInputs(deps, task, attempt)
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
  const results: TaskResult[] = []
  for (const image of images) results.push(await store(deps, task, image, results.length + 1))
  failpoint('render.after-output')
  await keepIfCurrent(deps, task)
  return { fence: task.fence, results }
}

/** An attempt that lost its fence while it stood still may have stored its results after the task's end swept them. */
const keepIfCurrent = async (
  { sql, storage }: MediaDependencies,
  task: ClaimedTask,
): Promise<void> => {
  if (await holdsFence(sql, task)) return
  await storage.removePrefix(`results/${task.id}/${task.fence}`)
  throw new Error('the task has ended or is with a newer attempt')
}

/** What a URL led to is judged as an inline image was when it was taken in. */
const checkLimits = (request: ImageRequest, inputs: Record<string, FetchedImage>): void => {
  const fault = inputs['image'] && pixelLimitFault(request, inputs['image'])
  if (fault) throw new TaskFault('pixel_limit', `/image ${fault}`)
}

const store = async (
  { storage }: MediaDependencies,
  task: ClaimedTask,
  image: RenderedImage,
  position: number,
): Promise<TaskResult> => {
  const name = `result-${position}.${image.extension}`
  const storageKey = `results/${task.id}/${task.fence}/${name}`
  const { size } = await stat(image.path)
  const digest = createHash('sha256')
  await pipeline(createReadStream(image.path), digest)
  await storage.putFile(storageKey, image.path)
  return {
    name,
    storageKey,
    contentType: image.contentType,
    bytes: size,
    sha256: digest.digest('hex'),
    width: image.width,
    height: image.height,
  }
}
