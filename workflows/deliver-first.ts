import { continueAsNew, patched, proxyActivities } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'

/** Ends: core workers make first attempts by themselves. Those of older releases stood for ever. */
export const deliverFirst = async (): Promise<void> => {
  if (patched('first-attempts-without-workflow')) return
  const { sendFirstAttempts } = proxyActivities<CoreActivities>({ startToCloseTimeout: '1 hour' })
  await sendFirstAttempts()
  await continueAsNew<typeof deliverFirst>()
}
