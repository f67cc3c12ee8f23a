import { asyncLocalStorage } from '@temporalio/activity'

import { describeWorkflow } from './workflow-facts.ts'

/** Facts for the log of the activity that is under way; none outside of one. */
export const describeActivity = (): object => {
  const info = asyncLocalStorage.getStore()?.info
  if (info === undefined) return {}
  return { activity: info.activityType, ...describeWorkflow(info.workflowExecution?.workflowId) }
}
