import {
  CancellationScope,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'

import type { RenderTiming } from '../src/domain/render-timing.ts'
import type { CoreActivities, MediaActivities } from '../activities/index.ts'
import { reasonOf } from './failure.ts'
import { moveOptions, renderOptions } from './options.ts'

export interface ImageTaskInput {
  taskId: string
  timing: RenderTiming
}

/** The API has moved the task to FAILED; whatever renders is to stop. Carries the outbox row's id; a repetition changes nothing. */
export const cancelRequested = defineSignal<[{ id: string }]>('cancelRequested')

/** Drives an image task from its creation to COMPLETED or FAILED. Whichever it is, the workflow completes. */
export const imageTask = async ({ taskId, timing }: ImageTaskInput): Promise<void> => {
  const { completeImageTask, failImageTask } = proxyLocalActivities<CoreActivities>(moveOptions)
  const { renderImageTask } = proxyActivities<MediaActivities>(renderOptions(timing))
  const rendering = new CancellationScope()
  setHandler(cancelRequested, () => rendering.cancel())
  try {
    setCurrentDetails(
      '**Rendering.** Waits for a media worker, then renders; progress is in the heartbeat.',
    )
    for (;;) {
      const rendered = await rendering.run(() => renderImageTask(taskId, timing))
      const status = await CancellationScope.nonCancellable(() =>
        completeImageTask(taskId, rendered),
      )
      // Another attempt, which its worker has lost, had claimed the task before these results were taken.
      if (status === 'CREATED' || status === 'IN_PROGRESS') continue
      return showEnd(status, rendered ? 'the results are stored' : 'it had ended before')
    }
  } catch (error) {
    const reason = reasonOf(error, rendering)
    const status = await CancellationScope.nonCancellable(() => failImageTask(taskId, reason))
    showEnd(status, reason.code)
  }
}

const showEnd = (status: string, detail: string): void => {
  setCurrentDetails(`**${status}**: ${detail}`)
  upsertSearchAttributes([{ key: { name: 'KilnStatus', type: 'KEYWORD' }, value: status }])
}
