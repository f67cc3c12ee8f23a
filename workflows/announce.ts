import {
  CancellationScope,
  getExternalWorkflowHandle,
  startChild,
  workflowInfo,
} from '@temporalio/workflow'

import { deliverEvents, eventRecorded } from './deliver-events.ts'

const deliveryId = (taskId: string): string => `deliver-events/${taskId}`

/** Starts the delivery of a task's events beside its workflow, which it outlives. One that is there already goes on. */
export const startDeliveryChild = async (taskId: string, hasReceiver: boolean): Promise<void> => {
  if (!hasReceiver) return
  const { workflowId, typedSearchAttributes } = workflowInfo()
  try {
    // Not to be cancelled with the task, of whose end the receiver is to hear.
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

/** Who looks for tasks by their status is to find tasks. */
const DELIVERING = { key: { name: 'KilnStatus', type: 'KEYWORD' }, value: 'delivering' } as const

/** Makes what waits for a move and then tells the delivery of it; without a receiver it only waits. */
export const makeAnnounce =
  (taskId: string, hasReceiver: boolean) =>
  async <T>(move: Promise<T>): Promise<T> => {
    const made = await move
    if (hasReceiver) await tellDelivery(taskId)
    return made
  }

/**
 * Has the delivery of a task's events look again. One that has ended had nothing more to send, or was ended by hand,
 * which reconcile sees to.
 */
export const tellDelivery = (taskId: string): Promise<void> =>
  getExternalWorkflowHandle(deliveryId(taskId))
    .signal(eventRecorded)
    .catch(() => {})
