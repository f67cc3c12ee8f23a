import { proxyActivities, setCurrentDetails } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import { purgeOptions } from './options.ts'

/** Removes what is past its age, batch after batch, until nothing is due. Started by the schedule `purge-expired`. */
export const purgeExpired = async (): Promise<void> => {
  const activities = proxyActivities<CoreActivities>(purgeOptions)
  let removed = 0
  for (;;) {
    const batch = await activities.purgeExpired()
    if (batch === 0) return
    removed += batch
    setCurrentDetails(`removed ${removed} tasks' files, uploads and records`)
  }
}
