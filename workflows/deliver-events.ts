import { continueAsNew, defineSignal, proxyLocalActivities, setHandler } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { deliverAll } from './deliver.ts'
import { moveOptions } from './options.ts'

export interface DeliverEventsInput {
  taskId: string
}

/** A move of the task was committed. Lost, it costs delay until the next one. */
export const eventRecorded = defineSignal('eventRecorded')

/** Tells the receiver of a task about its events, in their order, until the last one is settled. */
export const deliverEvents = async ({ taskId }: DeliverEventsInput): Promise<void> => {
  const { nextDelivery } = proxyLocalActivities<CoreActivities>(moveOptions)
  let news = false
  setHandler(eventRecorded, () => {
    news = true
  })
  const done = await deliverAll({
    next: () => nextDelivery(taskId),
    hasNews: () => news,
    forgetNews: () => {
      news = false
    },
  })
  if (!done) await continueAsNew<typeof deliverEvents>({ taskId })
}
