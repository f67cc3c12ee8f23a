import {
  CancellationScope,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow'

import type { EngineName } from '../src/domain/task/engine.ts'
import type { RenderTiming } from '../src/domain/task/render-timing.ts'
import type { CoreActivities, MediaActivities } from '../activities/index.ts'
import { keepDeadlines } from './deadline.ts'
import { reasonOf } from './failure.ts'
import { transitionOptions, renderOptions } from './options.ts'
import { cancelRequested, showTaskEnd } from './task.ts'
import type { TaskEnd } from './task.ts'

export interface ImageTaskInput {
  taskId: string
  timing: RenderTiming
  /** Absent: the local one. */
  engine?: EngineName
  /** Its caller has set some. */
  hasDeadlines?: true
}

/** Drives an image task from its creation to COMPLETED or FAILED. Whichever it is, the workflow completes. */
export const imageTask = async ({
  taskId,
  timing,
  engine,
  hasDeadlines,
}: ImageTaskInput): Promise<TaskEnd> => {
  const { completeImageTask, failImageTask } =
    proxyLocalActivities<CoreActivities>(transitionOptions)
  const { renderImageTask } = proxyActivities<MediaActivities>(renderOptions(timing, engine))
  const rendering = new CancellationScope()
  setHandler(cancelRequested, () => rendering.cancel())
  const deadlines = { work: rendering, fail: failImageTask, ended: ENDED }
  const passed = hasDeadlines && keepDeadlines(taskId, deadlines)
  try {
    setCurrentDetails(
      '**Rendering.** Waits for a worker, then renders: *Pending Activities* shows the step and how far it is.',
    )
    for (;;) {
      const rendered = await rendering.run(() => renderImageTask(taskId, timing))
      const status = await CancellationScope.nonCancellable(() =>
        completeImageTask(taskId, rendered),
      )
      // An attempt that Temporal had given up has claimed the task since: it is rendered once more.
      if (status === 'CREATED' || status === 'IN_PROGRESS') continue
      return showTaskEnd(
        status,
        rendered ? 'the results are stored' : 'had ended before its render',
      )
    }
  } catch (error) {
    const reason = (passed && passed()) || reasonOf(error, rendering)
    const status = await CancellationScope.nonCancellable(() => failImageTask(taskId, reason))
    return showTaskEnd(status, reason.code)
  }
}

const ENDED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED'])
