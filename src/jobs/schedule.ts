import { Client, ScheduleAlreadyRunning } from '@temporalio/client'
import type { Connection } from '@temporalio/client'

const ID = 'purge-expired'

/** The schedule of removals as it stands. Throws when there is none. */
export const describePurgeSchedule = async (
  client: Client,
): Promise<{ id: string; isPaused: boolean; taskQueue: string }> => {
  const { state, action } = await client.schedule.getHandle(ID).describe()
  return { id: ID, isPaused: state.paused, taskQueue: action.taskQueue }
}

/** Creates the hourly schedule of removals. Returns false when it exists. */
export const createPurgeSchedule = async (
  connection: Connection,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): Promise<boolean> => {
  const client = new Client({ connection, namespace })
  try {
    await client.schedule.create({
      scheduleId: ID,
      spec: { intervals: [{ every: '1 hour' }] },
      policies: { overlap: 'SKIP' },
      action: {
        type: 'startWorkflow',
        workflowType: 'purgeExpired',
        workflowId: ID,
        taskQueue,
        staticSummary: 'remove files and records that are past their age',
      },
    })
    return true
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false
    throw error
  }
}
