import { continueAsNew, proxyLocalActivities } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { deliverAll } from './deliver.ts'
import { moveOptions } from './options.ts'

export interface RedeliverEventInput {
  redeliveryId: string
}

/** Sends one event again on a schedule of its own, beside the order of its task. */
export const redeliverEvent = async ({ redeliveryId }: RedeliverEventInput): Promise<void> => {
  const { nextRedelivery } = proxyLocalActivities<CoreActivities>(moveOptions)
  const isDone = await deliverAll({
    next: () => nextRedelivery(redeliveryId),
    hasNews: () => false,
    forgetNews: () => {},
  })
  if (!isDone) await continueAsNew<typeof redeliverEvent>({ redeliveryId })
}
