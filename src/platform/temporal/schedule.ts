import { Client, ScheduleAlreadyRunning } from '@temporalio/client'
import type { Connection } from '@temporalio/client'

/** Workflows that run every hour, with the ids that they and their schedules have. */
const HOURLY = [
  {
    id: 'purge-expired',
    workflowType: 'purgeExpired',
    summary: 'remove files and records that are past their age',
  },
  {
    id: 'refresh-stars',
    workflowType: 'refreshStars',
    summary: 'ask for the stars of repositories',
  },
] as const

interface DescribedSchedule {
  id: string
  isPaused: boolean
  taskQueue: string
}

/** The schedules as they stand. Throws when one is not there. */
export const describeSchedules = async (client: Client): Promise<DescribedSchedule[]> =>
  await Promise.all(
    HOURLY.map(async ({ id }) => {
      const { state, action } = await client.schedule.getHandle(id).describe()
      return { id, isPaused: state.paused, taskQueue: action.taskQueue }
    }),
  )

/**
 * Creates the hourly schedules, and gives those that are there what this release wants; one that is paused stays so.
 * Returns the ids of the new ones.
 */
export const createSchedules = async (
  connection: Connection,
  { namespace, taskQueue }: { namespace: string; taskQueue: string },
): Promise<string[]> => {
  const client = new Client({ connection, namespace })
  const created: string[] = []
  for (const { id, workflowType, summary } of HOURLY) {
    const wanted = {
      spec: { intervals: [{ every: '1 hour' }] },
      policies: { overlap: 'SKIP' as const },
      action: {
        type: 'startWorkflow' as const,
        workflowType,
        workflowId: id,
        taskQueue,
        staticSummary: summary,
      },
    }
    try {
      await client.schedule.create({ scheduleId: id, ...wanted })
      created.push(id)
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      await client.schedule.getHandle(id).update(({ state }) => ({ state, ...wanted }))
    }
  }
  return created
}
