import { setImmediate } from 'node:timers/promises'

import {
  Client,
  NamespaceNotFoundError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import type { ConnectionLike } from '@temporalio/client'
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
} from '@temporalio/common'

import { makeBatch } from '../db/batch.ts'
import type { Sql } from '../db/client.ts'
import { isStartPending, markDispatched, markFailed } from '../db/outbox.ts'
import type { OutboxRow, OutboxSignal, OutboxStart, StartOptions } from '../db/outbox.ts'
import { failpoint } from '../process/failpoint.ts'
import type { Log } from '../log.ts'
import type { Tracing } from '../process/tracing.ts'
import { findGrpcError, hasGrpcCode } from './grpc-error.ts'
import { traceStarts } from './trace.ts'
import { describeWorkflow } from './workflow-facts.ts'

export interface JobsOptions {
  connection: ConnectionLike
  namespace: string
  sql: Sql
  log: Log
  publicUrl: string
  /** Absent: nothing is traced. */
  tracing?: Tracing | undefined
}

/**
 * Makes the client that dispatches the rows of the outbox to Temporal. A start of a workflow that runs already succeeds,
 * and so does a signal to one that has ended.
 */
export const makeJobs = ({
  connection: first,
  namespace,
  sql,
  log,
  publicUrl,
  tracing,
}: JobsOptions) => {
  const makeClients = (connection: ConnectionLike) => ({
    connection,
    client: new Client({ connection, namespace }),
    tracingClient:
      tracing && new Client({ connection, namespace, interceptors: traceStarts(tracing) }),
  })
  let current = makeClients(first)
  const inFlight = new Set<Promise<void>>()
  const mark = makeBatch(async (ids: readonly string[]) => {
    await markDispatched(sql, ids)
    return ids
  })

  const inTime = <T>(call: () => Promise<T>): Promise<T> =>
    current.connection.withDeadline(Date.now() + CALL_DEADLINE_MS, call)

  const dispatch = (row: OutboxRow): Promise<void> =>
    inTime(() => (row.kind === 'signal' ? signal(current.client, row) : startTraced(row)))

  const startTraced = async (row: OutboxStart): Promise<void> => {
    const { workflowType, workflowId, options } = row
    const { traceparent: parent } = options
    const { client, tracingClient } = current
    if (!tracing || !tracingClient || parent === undefined)
      return await start(client, row, publicUrl)
    const attributes = { 'workflow.id': workflowId }
    await tracing.span(`start ${workflowType}`, { kind: 'producer', parent, attributes }, () =>
      start(tracingClient, row, publicUrl),
    )
  }

  /** Dispatches a row at once. The relay takes over whatever fails here, so this never rejects. */
  const attemptNow = async (row: OutboxRow): Promise<void> => {
    try {
      // The response to the request goes first.
      await setImmediate()
      // A signal must not overtake its start: Temporal would not know the workflow, and the signal would count as done.
      if (row.kind === 'signal' && (await isStartPending(sql, row.workflowId))) return
      await dispatch(row)
      failpoint('create.after-start')
      await mark(row.id)
    } catch (error) {
      log.debug({ ...describeWorkflow(row.workflowId), err: error }, 'left to the relay')
    }
  }

  return {
    get client() {
      return current.client
    },
    /** Makes all further calls by another connection. */
    useConnection(connection: ConnectionLike): void {
      current = makeClients(connection)
    },
    tracing,
    dispatch,
    /** Asks whether a workflow runs; of a task, whether the run of this admission does. */
    check: (workflowId: string, admission?: number): Promise<WorkflowState> =>
      inTime(() => check(current.client, workflowId, admission)),
    /** Signals a workflow to read its rows again. A lost signal costs delay, nothing else. */
    async trySignal(workflowId: string, signalName: string): Promise<void> {
      const handle = current.client.workflow.getHandle(workflowId)
      await inTime(() => handle.signal(signalName)).catch((error: unknown) =>
        log.debug({ ...describeWorkflow(workflowId), err: error }, 'a signal was not sent'),
      )
    },
    /** Begins to dispatch a row; the caller does not wait. */
    dispatchNow(row: OutboxRow): void {
      const work = attemptNow(row).finally(() => inFlight.delete(work))
      inFlight.add(work)
    },
    /** Waits for the calls begun by `dispatchNow`. */
    async drain(): Promise<void> {
      await Promise.all(inFlight)
    },
    /** Dispatches a leased row for the relay and marks it. False when the next row would fail alike. */
    async relay(row: OutboxRow): Promise<boolean> {
      try {
        await dispatch(row)
      } catch (error) {
        await markFailed(sql, row, findGrpcError(error)?.details ?? String(error))
        log.warn(
          { ...describeWorkflow(row.workflowId), attempts: row.attempts, err: error },
          'outbox row not dispatched',
        )
        return !isOutage(error)
      }
      failpoint('relay.after-start')
      await mark(row.id)
      return true
    },
  }
}

export type Jobs = ReturnType<typeof makeJobs>

const CALL_DEADLINE_MS = 2000

const ADMISSION = 'admission'

/** Starts a workflow, whose details lead back to the console. One that runs under the same id already is as good. */
export const start = async (client: Client, row: OutboxStart, publicUrl = ''): Promise<void> => {
  const { admission, page } = row.options
  const options = {
    workflowId: row.workflowId,
    taskQueue: row.taskQueue,
    args: [...row.args],
    staticSummary: row.options.summary,
    ...(page !== undefined && { staticDetails: `[In the console](${publicUrl}/console${page})` }),
    typedSearchAttributes: toSearchAttributes(row.options),
    priority: { priorityKey: row.options.priorityKey, fairnessKey: row.options.fairnessKey },
    workflowIdReusePolicy: row.kind === 'restart' ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: row.options.endsOpen
      ? 'TERMINATE_EXISTING'
      : admission === undefined
        ? 'USE_EXISTING'
        : 'FAIL',
    ...(admission !== undefined && { memo: { [ADMISSION]: admission } }),
  } as const
  const { signal } = row.options
  try {
    if (signal === undefined) await client.workflow.start(row.workflowType, options)
    else await client.workflow.signalWithStart(row.workflowType, { ...options, signal })
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    if (admission === undefined) return
    const found = await client.workflow.getHandle(row.workflowId).describe()
    // It was put back and is about to end: the relay tries again.
    if (admissionOf(found) < admission)
      throw new Error('the run of an earlier admission is still open', { cause: error })
  }
}

/** Number of the admission of a run; 0 of one that an earlier release has started. */
const admissionOf = ({ memo }: { memo?: Record<string, unknown> | undefined }): number =>
  Number(memo?.[ADMISSION] ?? 0)

const signal = async (client: Client, row: OutboxSignal & { id: string }): Promise<void> => {
  try {
    await client.workflow.getHandle(row.workflowId).signal(row.signalName, { id: row.id })
  } catch (error) {
    // Its start was dispatched. So it has not begun, and will read the row first, or it has ended.
    if (!(error instanceof WorkflowNotFoundError)) throw error
  }
}

/**
 * `missing`: it never started, or not under this admission, or Temporal has forgotten it. `completed`: it came to its own end; when its row has not, the
 * database was put back to an earlier time. `closed`: somebody ended it.
 */
export type WorkflowState = 'open' | 'completed' | 'closed' | 'missing'

const check = async (client: Client, workflowId: string, admission = 0): Promise<WorkflowState> => {
  try {
    const found = await client.workflow.getHandle(workflowId).describe()
    const { status } = found
    if (['RUNNING', 'PAUSED'].includes(status.name)) return 'open'
    if (admissionOf(found) < admission) return 'missing'
    return status.name === 'COMPLETED' ? 'completed' : 'closed'
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing'
    throw error
  }
}

export const toSearchAttributes = ({
  searchAttributes,
}: Pick<StartOptions, 'searchAttributes'>): TypedSearchAttributes =>
  new TypedSearchAttributes(
    Object.entries(searchAttributes).map(([name, value]) => ({
      key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
      // PostgreSQL keeps a keyword of Temporal in a varchar(255).
      value: value.slice(0, 255),
    })),
  )

/**
 * True when Temporal takes no other call now either: it is away, at a limit of its namespace, lets nobody in, or does not
 * know the namespace or the search attributes yet.
 */
export const isOutage = (error: unknown): boolean =>
  error instanceof NamespaceNotFoundError ||
  hasGrpcCode(
    error,
    'UNAVAILABLE',
    'DEADLINE_EXCEEDED',
    'RESOURCE_EXHAUSTED',
    'UNAUTHENTICATED',
    'PERMISSION_DENIED',
  ) ||
  (hasGrpcCode(error, 'INVALID_ARGUMENT') &&
    /search attribute/i.test(findGrpcError(error)?.details ?? ''))
