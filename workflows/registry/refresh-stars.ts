import {
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow'

import type { RefreshStars } from '../../activities/registry/refresh-stars.ts'
import { purgeOptions } from '../platform/options.ts'

/** Asks for the stars of repositories, batch after batch, until none is due. Started by the schedule `refresh-stars`. */
export const refreshStars = async (askedBefore = 0): Promise<void> => {
  const activities = proxyActivities<{ refreshStars: RefreshStars }>(purgeOptions)
  let asked = askedBefore
  for (;;) {
    const batch = await activities.refreshStars()
    if (batch === 0) return
    asked += batch
    setCurrentDetails(`asked for the stars of ${asked} repositories`)
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof refreshStars>(asked)
  }
}
