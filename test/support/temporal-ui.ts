import { randomUUID } from 'node:crypto'

import { WorkflowNotFoundError } from '@temporalio/client'
import type { WorkflowClient, WorkflowHandle } from '@temporalio/client'

import { waitFor } from './wait.ts'

const namespace = 'default'
const reason = 'by hand'

/** Makes the buttons of the Temporal UI, as an operator presses them at a workflow or at its pending activity. */
export const makeButtons = (client: WorkflowClient) => {
  const { workflowService } = client

  /** Its start follows the response to whoever has asked for it. */
  const ifStarted = (error: unknown): undefined => {
    if (!(error instanceof WorkflowNotFoundError)) throw error
  }
  const findActivity = async (handle: WorkflowHandle) =>
    (await handle.describe().catch(ifStarted))?.raw.pendingActivities?.[0]

  const untilActivity = async (handle: WorkflowHandle) => {
    const { activityId = null } = await waitFor('an activity is pending', () =>
      findActivity(handle),
    )
    const { workflowId } = handle
    return { namespace, execution: { workflowId }, id: activityId, identity: 'operator' }
  }

  return {
    findActivity,
    /** Starts a run of the workflow again from its first workflow task. */
    async reset({ workflowId }: WorkflowHandle, runId?: string): Promise<void> {
      const { events } = await client.getHandle(workflowId, runId).fetchHistory()
      const first = events?.find((event) => event.workflowTaskCompletedEventAttributes)
      await workflowService.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, ...(runId !== undefined && { runId }) },
        reason,
        requestId: randomUUID(),
        workflowTaskFinishEventId: first?.eventId ?? null,
      })
    },
    /** Pauses the pending activity, and the next one where it has ended before; resolves once its attempt has stopped. */
    pause: (handle: WorkflowHandle): Promise<boolean> =>
      waitFor('it is paused', async () => {
        const found = await findActivity(handle)
        if (found?.paused) return Boolean(found.lastFailure)
        const pausing = workflowService.pauseActivity({ ...(await untilActivity(handle)), reason })
        await pausing.catch(() => {})
        return false
      }),
    async unpause(handle: WorkflowHandle): Promise<void> {
      await workflowService.unpauseActivity(await untilActivity(handle))
    },
    async resetActivity(handle: WorkflowHandle): Promise<void> {
      await workflowService.resetActivity(await untilActivity(handle))
    },
  }
}
