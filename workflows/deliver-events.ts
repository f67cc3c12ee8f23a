import {
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  proxyLocalActivities,
  setHandler,
} from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { deliverAll } from './deliver.ts'
import { transitionOptions } from './options.ts'

export interface DeliverEventsInput {
  taskId: string
}

/** Another attempt of the task's events is due, or none any more. Lost, it costs delay. */
const eventRecorded = defineSignal('eventRecorded')

/** Delivers the events of a task to its webhook URL, in their order, until the last one has ended. */
export const deliverEvents = async ({ taskId }: DeliverEventsInput): Promise<void> => {
  const { nextDelivery } = proxyLocalActivities<CoreActivities>(transitionOptions)
  const notified = { hasChanged: false }
  setHandler(eventRecorded, () => {
    notified.hasChanged = true
  })
  const done = await deliverAll(() => nextDelivery(taskId), notified)
  if (!done) await continueAsNew<typeof deliverEvents>({ taskId })
}

/**
 * Makes the delivery of a task's events read the rows again. A delivery that has ended had nothing more to send, or
 * somebody ended it by hand; reconcile restarts that one.
 */
export const signalDelivery = (taskId: string): Promise<void> =>
  getExternalWorkflowHandle(`deliver-events/${taskId}`)
    .signal(eventRecorded)
    .catch(() => {})
