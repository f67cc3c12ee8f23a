import { continueAsNew, proxyLocalActivities } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { deliverAll } from './deliver.ts'
import { signalDelivery } from './deliver-events.ts'
import { transitionOptions } from './options.ts'

export interface RedeliverEventInput {
  redeliveryId: string
}

/** Sends one event again on a schedule of its own, beside the order of its task. */
export const redeliverEvent = async ({ redeliveryId }: RedeliverEventInput): Promise<void> => {
  const { nextRedelivery } = proxyLocalActivities<CoreActivities>(transitionOptions)
  const done = await deliverAll(() => nextRedelivery(redeliveryId))
  if (!done) return await continueAsNew<typeof redeliverEvent>({ redeliveryId })
  // What arrived this way keeps nothing waiting any more.
  if (done.taskInWait !== undefined) await signalDelivery(done.taskInWait)
}
