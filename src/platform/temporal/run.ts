import { defaultPayloadConverter } from '@temporalio/common'
import { WorkflowNotFoundError, type WorkflowExecutionDescription } from '@temporalio/client'

import type { Jobs } from './client.ts'

const CALL_DEADLINE_MS = 2000

type Raw = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number]
type Failure = NonNullable<Raw['lastFailure']>

/** The newest run of a workflow: its status, such as RUNNING, and the activities that it waits for. */
export interface WorkflowRun {
  status: string
  activities: ReturnType<typeof toActivity>[]
}

/** Reads the newest run of a workflow; undefined where Temporal knows none. */
export const readRun = async (
  { client }: Jobs,
  workflowId: string,
): Promise<WorkflowRun | undefined> => {
  const { workflow } = client
  const found = await client
    .withDeadline(Date.now() + CALL_DEADLINE_MS, () => workflow.getHandle(workflowId).describe())
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined
      throw error
    })
  const activities = (found?.raw.pendingActivities ?? []).map(toActivity)
  return found && { status: found.status.name, activities }
}

/** SCHEDULED and PAUSED of an enumeration whose package we do not depend on. */
const WITHOUT_WORKER = [1, 4]

const toActivity = (raw: Raw) => ({
  type: raw.activityType?.name ?? '',
  attempt: raw.attempt ?? 1,
  isStarted: !WITHOUT_WORKER.includes(Number(raw.state)),
  isPaused: raw.paused ?? false,
  /** Identity of the worker that has it, or had it last. */
  worker: raw.lastWorkerIdentity || 'no worker',
  startedAt: toInstant(raw.lastStartedTime),
  heartbeat: readHeartbeat(raw),
  nextAttemptAt: toInstant(raw.nextAttemptScheduleTime),
  /** Messages of the failure of the last attempt, the outermost first. */
  failure: raw.lastFailure && [...new Set(listMessages(raw.lastFailure))].join(': '),
})

/** Report of an attempt at rendering while it runs. */
interface Heartbeat {
  step?: string
  percent?: number
  /** Why the step does not go on. */
  reason?: string
}

const readHeartbeat = ({ heartbeatDetails: details }: Raw): Heartbeat => {
  const [payload] = details?.payloads ?? []
  return payload ? (defaultPayloadConverter.fromPayload<Heartbeat | undefined>(payload) ?? {}) : {}
}

const listMessages = ({ message, cause }: Failure): string[] => [
  ...(message ? [message] : []),
  ...(cause ? listMessages(cause) : []),
]

const toInstant = (time: Raw['scheduledTime']): string | undefined =>
  time ? new Date(Number(time.seconds) * 1000).toISOString() : undefined
