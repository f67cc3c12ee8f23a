import { continueAsNew, patched, proxyActivities, setCurrentDetails } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { firstAttemptOptions } from './options.ts'

/** Ends: core workers make first attempts by themselves. Those of older releases stood for ever. */
export const deliverFirst = async (): Promise<void> => {
  if (patched('first-attempts-without-workflow')) return
  setCurrentDetails(
    '**Delivering.** *Pending Activities* shows how many events wait, how old the oldest is, how many are under way and how many are sent in a second. What fails goes on in `deliver-events/<task>`.',
  )
  await proxyActivities<CoreActivities>(firstAttemptOptions).sendFirstAttempts()
  await continueAsNew<typeof deliverFirst>()
}
