import { ApplicationFailure, Context } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

import { mediaQueue } from '../../src/platform/temporal/start.ts'
import { waitFor } from '../support/wait.ts'

/** Options of a run of a workflow of either family beside its activities. */
export interface Circumstances {
  /** No media worker takes the task. */
  noMediaWorker?: boolean
  /** Until a silent worker counts as lost; absent: in no test, as a busy machine is silent, too. */
  heartbeatSeconds?: number
  /** Acts on the workflow while it runs. */
  act?: Act
}

export const attempt = (): number => Context.current().info.attempt

/** Heartbeats until it is cancelled. */
export const untilCancelled = async (): Promise<never> => {
  const context = Context.current()
  const timer = setInterval(() => context.heartbeat({ step: 'rendering', percent: 50 }), 50)
  try {
    return await context.cancelled
  } finally {
    clearInterval(timer)
  }
}

/** Says nothing at the first attempt until its worker ends. */
export const silentAtFirst =
  <T>(work: () => Promise<T>) =>
  async (): Promise<T> => {
    if (attempt() === 1) await Context.current().cancelled
    return await work()
  }

export const fails = (code: string) => async (): Promise<never> => {
  throw ApplicationFailure.nonRetryable('what the caller reads', code)
}

export const failsThreeTimes = async (): Promise<never> => {
  if (attempt() === 3) throw ApplicationFailure.nonRetryable('three times', 'engine_failed')
  throw ApplicationFailure.retryable('the attempt failed', 'attempt_failed')
}

/** Returns the response at the number of the call for the same task, and the last of them from there on. */
export const inTurn = <T>(...responses: readonly T[]): ((taskId: string) => Promise<T>) => {
  const calls = new Map<string, number>()
  return (taskId) => {
    const call = calls.get(taskId) ?? 0
    calls.set(taskId, call + 1)
    return Promise.resolve(responses[Math.min(call, responses.length - 1)] as T)
  }
}

/** Dispatches the start of a workflow: of a task, that of an admission. */
export type Admit = (admission: number) => Promise<void>

type Act = (handle: WorkflowHandle, admit: Admit) => Promise<unknown>

/** Makes one act of several, each of which begins when the one before it has ended. */
export const inOrder =
  (...acts: readonly Act[]): Act =>
  async (...given) => {
    for (const act of acts) await act(...given)
  }

export const cancel: Act = (handle) => handle.cancel()

export const askToCancel = (handle: WorkflowHandle) => handle.signal('cancelRequested', { id: '1' })

export const untilHeartbeat = (handle: WorkflowHandle) =>
  waitFor('a heartbeat', async () => {
    const { raw } = await handle.describe()
    return raw.pendingActivities?.[0]?.heartbeatDetails ?? undefined
  })

/** The protocol's TaskQueueType of activities. */
const ACTIVITIES = 2

/** Counts the renders that no worker has taken, of all tasks with the queue of a workflow. */
export const countQueued = async ({ client, workflowId }: WorkflowHandle): Promise<number> => {
  const { taskQueue } = await client.getHandle(workflowId).describe()
  const { stats } = await client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name: mediaQueue(taskQueue) },
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enumeration is of a package we do not depend on
    taskQueueType: ACTIVITIES,
    reportStats: true,
  })
  return Number(stats?.approximateBacklogCount ?? 0)
}

/** Reads our search attributes of a workflow. */
export const readAttributes = async (handle: WorkflowHandle): Promise<Record<string, unknown>> => {
  const { typedSearchAttributes } = await handle.describe()
  const own = typedSearchAttributes.getAll().filter(({ key }) => key.name.startsWith('Kiln'))
  return Object.fromEntries(own.map(({ key, value }) => [key.name, value]))
}

/** Waits until a query finds a workflow. */
export const untilFound = ({ client, workflowId }: WorkflowHandle, query: string) =>
  waitFor('it is found by its attributes', async () => {
    for await (const found of client.list({ query })) return found.workflowId === workflowId
    return false
  })

/** Reads the details of a workflow, for operators. A busy worker does not respond to a query, so it is repeated. */
export const readDetails = (handle: WorkflowHandle): Promise<string> =>
  waitFor('its details', () =>
    handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata').then(
      ({ currentDetails = '' }) => currentDetails,
      () => undefined,
    ),
  )

export const untilDetails = (handle: WorkflowHandle, pattern: RegExp) =>
  waitFor(`details like ${pattern}`, async () => pattern.test(await readDetails(handle)))
