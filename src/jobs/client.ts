import { createHash } from 'node:crypto'

import {
  Client,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import type { ConnectionLike } from '@temporalio/client'
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common'

import type { deliverEvents } from '../../workflows/deliver-events.ts'
import type { imageTask } from '../../workflows/image-task.ts'
import type { redeliverEvent } from '../../workflows/redeliver-event.ts'
import type { videoTask } from '../../workflows/video-task.ts'
import type { Sql } from '../db/client.ts'
import { isStartPending, markDispatched, markFailed } from '../db/shared/outbox.ts'
import type { OutboxRow, OutboxSignal, OutboxStart, StartOptions } from '../db/shared/outbox.ts'
import type { RenderTiming, VideoTiming } from '../domain/task/render-timing.ts'
import { failpoint } from '../process/failpoint.ts'
import type { Log } from '../log.ts'

/** Queue of everything that takes CPU; the workflow's own queue with this ending. */
export const mediaQueue = (taskQueue: string): string => `${taskQueue}-media`

export type TaskFamily = 'image' | 'video'

export const taskWorkflowId = (family: TaskFamily, taskId: string): string =>
  `${family}-task/${taskId}`

/** What an operator finds a job by. All Keyword; SQL visibility allows ten in a namespace. */
export const SEARCH_ATTRIBUTES = [
  'KilnOwner',
  'KilnKind',
  'KilnStatus',
  'KilnPublisher',
  'KilnNode',
  'KilnVersion',
] as const

/** Temporal refuses a summary of more than 400 bytes, and a character may have four. */
const SUMMARY_CHARACTERS = 100

/** 1 goes first, 5 last. */
export const NORMAL_PRIORITY = 3
/** Of what may wait: off-peak tasks, archives that are read anew. */
export const LOW_PRIORITY = 5

export interface TaskFacts {
  taskId: string
  kind: string
  owner: string
  /** What an operator reads first: "relight 1024×768 for alice". */
  summary: string
  /** The task names an address that is told of its moves. */
  hasReceiver: boolean
}

/** The start of an image task's workflow, as its outbox row. */
export const startImageTask = (
  facts: TaskFacts,
  { taskQueue, timing }: { taskQueue: string; timing: RenderTiming },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'imageTask',
  workflowId: taskWorkflowId('image', facts.taskId),
  taskQueue,
  args: [{ taskId: facts.taskId, timing, hasReceiver: facts.hasReceiver }] satisfies Parameters<
    typeof imageTask
  >,
  options: startOptions(facts, { status: 'CREATED', priorityKey: NORMAL_PRIORITY }),
})

/** The start of a video task's workflow, as its outbox row. */
export const startVideoTask = (
  { offPeak, ...facts }: TaskFacts & { offPeak: boolean },
  { taskQueue, videoTiming }: { taskQueue: string; videoTiming: VideoTiming },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'videoTask',
  workflowId: taskWorkflowId('video', facts.taskId),
  taskQueue,
  args: [
    { taskId: facts.taskId, timing: videoTiming, hasReceiver: facts.hasReceiver },
  ] satisfies Parameters<typeof videoTask>,
  options: startOptions(facts, {
    status: 'created',
    priorityKey: offPeak ? LOW_PRIORITY : NORMAL_PRIORITY,
  }),
})

/** What the start of every workflow says of it, for operators and for the order of work. */
export const startOptions = (
  { kind, owner, summary }: Pick<TaskFacts, 'kind' | 'owner' | 'summary'>,
  { status, priorityKey }: { status: string; priorityKey: number },
): StartOptions => ({
  summary: [...summary].slice(0, SUMMARY_CHARACTERS).join(''),
  searchAttributes: { KilnOwner: owner, KilnKind: kind, KilnStatus: status },
  priorityKey,
  fairnessKey: fairnessKey(owner),
})

export const deliveryWorkflowId = (taskId: string): string => `deliver-events/${taskId}`

/**
 * Starts the delivery of a task's events or, where it runs, tells it that there is one more: for moves that are made
 * outside of the task's workflow.
 */
export const startDelivery = (
  { taskId, kind, owner }: Pick<TaskFacts, 'taskId' | 'kind' | 'owner'>,
  { taskQueue }: { taskQueue: string },
): OutboxStart => {
  const workflowId = deliveryWorkflowId(taskId)
  const facts = { kind, owner, summary: `events of ${kind} for ${owner}` }
  return {
    kind: 'start',
    workflowType: 'deliverEvents',
    workflowId,
    taskQueue,
    args: [{ taskId }] satisfies Parameters<typeof deliverEvents>,
    options: {
      ...startOptions(facts, { status: 'delivering', priorityKey: NORMAL_PRIORITY }),
      signal: 'eventRecorded',
    },
  }
}

/** What the starts of an owner's redeliveries have in common. */
export const redeliveryOptions = (owner: string): StartOptions =>
  startOptions(
    { kind: 'redelivery', owner, summary: `an event again, for ${owner}` },
    { status: 'delivering', priorityKey: NORMAL_PRIORITY },
  )

/** The start of one redelivery. */
export const startRedelivery = (
  { redeliveryId, owner }: { redeliveryId: string; owner: string },
  { taskQueue }: { taskQueue: string },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'redeliverEvent',
  workflowId: `redeliver-event/${redeliveryId}`,
  taskQueue,
  args: [{ redeliveryId }] satisfies Parameters<typeof redeliverEvent>,
  options: redeliveryOptions(owner),
})

/** The signal that stops a cancelled task. */
export const signalCancel = (family: TaskFamily, taskId: string): OutboxSignal => ({
  kind: 'signal',
  workflowId: taskWorkflowId(family, taskId),
  signalName: 'cancelRequested',
})

/** Keys are limited to 64 bytes and stand in histories, so the owner goes in as a digest. */
const fairnessKey = (owner: string): string =>
  createHash('sha256').update(owner).digest('hex').slice(0, 32)

export interface JobsOptions {
  connection: ConnectionLike
  namespace: string
  sql: Sql
  log: Log
}

/** Makes what tells Temporal of the rows in the outbox. Starting what is started already, or signalling what has ended, is done. */
export const makeJobs = ({ connection, namespace, sql, log }: JobsOptions) => {
  const client = new Client({ connection, namespace })
  const inFlight = new Set<Promise<void>>()

  const inTime = <T>(call: () => Promise<T>): Promise<T> =>
    connection.withDeadline(Date.now() + CALL_DEADLINE_MS, call)

  const dispatch = (row: OutboxRow): Promise<void> =>
    inTime(() => (row.kind === 'signal' ? signal(client, row) : start(client, row)))

  /** Tells Temporal at once; what fails here is the relay's. Never rejects. */
  const tryNow = async (row: OutboxRow): Promise<void> => {
    try {
      // A signal overtakes no start: to a workflow that Temporal does not know it would count as done.
      if (row.kind === 'signal' && (await isStartPending(sql, row.workflowId))) return
      await dispatch(row)
      failpoint('create.after-start')
      await markDispatched(sql, row.id)
    } catch (error) {
      log.debug({ workflow_id: row.workflowId, err: error }, 'left to the relay')
    }
  }

  return {
    client,
    dispatch,
    /** What has become of a workflow. */
    look: (workflowId: string): Promise<WorkflowState> => inTime(() => look(client, workflowId)),
    /** Tells the delivery of a task's events that there is one more; lost, it costs delay. */
    async announceEvent(taskId: string): Promise<void> {
      const handle = client.workflow.getHandle(deliveryWorkflowId(taskId))
      await inTime(() => handle.signal('eventRecorded')).catch((error: unknown) =>
        log.debug({ task_id: taskId, err: error }, 'an event was not announced'),
      )
    },
    /** Begins to tell Temporal without making the caller wait. */
    kick(row: OutboxRow): void {
      const work = tryNow(row).finally(() => inFlight.delete(work))
      inFlight.add(work)
    },
    /** Waits for the calls begun by `kick`. */
    async settle(): Promise<void> {
      await Promise.all(inFlight)
    },
    /** Dispatches a leased row for the relay and marks it. False when Temporal cannot be reached. */
    async relay(row: OutboxRow): Promise<boolean> {
      try {
        await dispatch(row)
      } catch (error) {
        await markFailed(sql, row, error instanceof Error ? error.message : String(error))
        log.warn(
          { workflow_id: row.workflowId, tries: row.tries, err: error },
          'outbox row not dispatched',
        )
        return !isUnreachable(error)
      }
      failpoint('relay.after-start')
      await markDispatched(sql, row.id)
      return true
    },
  }
}

export type Jobs = ReturnType<typeof makeJobs>

const CALL_DEADLINE_MS = 2000

const start = async (client: Client, row: OutboxStart): Promise<void> => {
  const options = {
    workflowId: row.workflowId,
    taskQueue: row.taskQueue,
    args: [...row.args],
    staticSummary: row.options.summary,
    typedSearchAttributes: toSearchAttributes(row.options),
    priority: { priorityKey: row.options.priorityKey, fairnessKey: row.options.fairnessKey },
    workflowIdReusePolicy: row.kind === 'restart' ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  } as const
  const { signal } = row.options
  try {
    if (signal === undefined) await client.workflow.start(row.workflowType, options)
    else await client.workflow.signalWithStart(row.workflowType, { ...options, signal })
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
  }
}

const signal = async (client: Client, row: OutboxSignal & { id: string }): Promise<void> => {
  try {
    await client.workflow.getHandle(row.workflowId).signal(row.signalName, { id: row.id })
  } catch (error) {
    // Its start was dispatched: it has not begun and will read the row first, or it has ended.
    if (!(error instanceof WorkflowNotFoundError)) throw error
  }
}

/** `missing`: never started, or Temporal no longer knows of it. */
export type WorkflowState = 'open' | 'closed' | 'missing'

const look = async (client: Client, workflowId: string): Promise<WorkflowState> => {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe()
    return ['RUNNING', 'PAUSED'].includes(status.name) ? 'open' : 'closed'
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing'
    throw error
  }
}

const toSearchAttributes = ({ searchAttributes }: StartOptions): TypedSearchAttributes =>
  new TypedSearchAttributes(
    Object.entries(searchAttributes).map(([name, value]) => ({
      key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
      value,
    })),
  )

const UNAVAILABLE = 14
const DEADLINE_EXCEEDED = 4

/** Temporal did not answer, so trying the next row at once would only wait again. */
const isUnreachable = (error: unknown): boolean =>
  [error, error instanceof Error ? error.cause : undefined].some(
    (candidate) =>
      isGrpcServiceError(candidate) && [UNAVAILABLE, DEADLINE_EXCEEDED].includes(candidate.code),
  )
