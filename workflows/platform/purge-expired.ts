import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow'

import type { PurgeExpired } from '../../activities/platform/purge-expired.ts'
import { purgeOptions } from './options.ts'

/** Removes what is past its age, batch after batch, until nothing is due. Started by the schedule `purge-expired`. */
export const purgeExpired = async (removedBefore = 0): Promise<void> => {
  const activities = proxyActivities<{ purgeExpired: PurgeExpired }>(purgeOptions)
  let removed = removedBefore
  for (;;) {
    const batch = await activities.purgeExpired()
    if (batch === 0) return
    removed += batch
    setCurrentDetails(`removed ${removed} tasks' files, uploads and records`)
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof purgeExpired>(removed)
  }
}
