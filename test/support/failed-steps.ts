import type { WorkflowClient } from '@temporalio/client'

/** Lists the workflow tasks that failed, with their cause, in the histories of all runs that a query finds. */
export const listFailedSteps = async (
  workflow: WorkflowClient,
  query: string,
): Promise<string[]> => {
  const steps: string[] = []
  for await (const { workflowId, runId } of workflow.list({ query })) {
    const { events } = await workflow.getHandle(workflowId, runId).fetchHistory()
    for (const { workflowTaskFailedEventAttributes: failed } of events ?? [])
      // A signal came while the step was made, and Temporal has it made again: no error of anybody.
      if (failed && failed.failure?.message !== 'UnhandledCommand')
        steps.push(`${workflowId}: ${failed.failure?.message ?? failed.cause}`)
  }
  return steps
}
