import { continueAsNew, proxyActivities, setCurrentDetails } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { firstAttemptOptions } from './options.ts'

/** Stands for ever: has a core worker make the first attempts of webhooks. */
export const deliverFirst = async (): Promise<void> => {
  setCurrentDetails(
    '**Delivering.** *Pending Activities* shows how many events wait, how old the oldest is, how many are under way and how many are sent in a second. What fails goes on in `deliver-events/<task>`.',
  )
  await proxyActivities<CoreActivities>(firstAttemptOptions).sendFirstAttempts()
  await continueAsNew<typeof deliverFirst>()
}
