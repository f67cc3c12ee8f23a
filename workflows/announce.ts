import {
  CancellationScope,
  getExternalWorkflowHandle,
  startChild,
  workflowInfo,
} from '@temporalio/workflow'

import { deliverEvents, eventRecorded } from './deliver-events.ts'

const deliveryId = (taskId: string): string => `deliver-events/${taskId}`

/**
 * Starts the delivery of a task's events as a child that outlives the workflow of the task. A delivery that already
 * runs goes on.
 */
export const startDeliveryChild = async (taskId: string, hasReceiver: boolean): Promise<void> => {
  if (!hasReceiver) return
  const { workflowId, typedSearchAttributes } = workflowInfo()
  try {
    // It is not cancelled with the task: the receiver must still hear of the end.
    await CancellationScope.nonCancellable(() =>
      startChild(deliverEvents, {
        workflowId: deliveryId(taskId),
        args: [{ taskId }],
        parentClosePolicy: 'ABANDON',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: `events of ${workflowId}`,
        typedSearchAttributes: typedSearchAttributes.updateCopy([DELIVERING]),
      }),
    )
  } catch (error) {
    if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError'))
      throw error
  }
}

/** A status of its own, so that a search for tasks by their status finds tasks only. */
const DELIVERING = { key: { name: 'KilnStatus', type: 'KEYWORD' }, value: 'delivering' } as const

/** Makes a function that waits for a move and then tells the delivery about it. Without a receiver it only waits. */
export const makeAnnounce =
  (taskId: string, hasReceiver: boolean) =>
  async <T>(move: Promise<T>): Promise<T> => {
    const made = await move
    if (hasReceiver) await tellDelivery(taskId)
    return made
  }

/**
 * Makes the delivery of a task's events look at the rows again. A delivery that has ended had nothing more to send, or
 * somebody ended it by hand; reconcile restarts that one.
 */
export const tellDelivery = (taskId: string): Promise<void> =>
  getExternalWorkflowHandle(deliveryId(taskId))
    .signal(eventRecorded)
    .catch(() => {})
