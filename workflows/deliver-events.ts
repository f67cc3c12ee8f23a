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
  const told = { news: false }
  setHandler(eventRecorded, () => {
    told.news = true
  })
  const done = await deliverAll(() => nextDelivery(taskId), told)
  if (!done) await continueAsNew<typeof deliverEvents>({ taskId })
}
