import type { WaitingOutbox } from '../domain/waiting-outbox.ts'
import type { Sql, Transaction } from './client.ts'
import { instant } from './instant.ts'
import { withoutSync } from './without-sync.ts'

/** Facts a workflow is started with beside its arguments; small, and free of anything secret. */
export interface StartOptions {
  summary: string
  /** Its page below /console, for an operator who looks at the workflow. */
  page?: string
  searchAttributes: Record<string, string>
  priorityKey: number
  fairnessKey: string
  /** Sent to the workflow with its start, also when it runs already. */
  signal?: string
  /** The trace that it belongs to, as W3C Trace Context has it. */
  traceparent?: string
  /** With the kind restart: a run that is open is ended first, in the same step. */
  endsOpen?: boolean
  /** Number of the admission of a task. While a run of an earlier one is open, the row stays due. */
  admission?: number
}

export interface OutboxStart {
  kind: 'start' | 'restart'
  workflowType: string
  workflowId: string
  taskQueue: string
  args: readonly unknown[]
  options: StartOptions
}

export interface OutboxSignal {
  kind: 'signal'
  workflowId: string
  signalName: string
}

export interface EnqueueOptions {
  /** Id of a task that this transaction makes: only where it is admitted. */
  ifAdmitted?: string
}

export type OutboxEntry = OutboxStart | OutboxSignal
export type OutboxRow = OutboxEntry & { id: string; attempts: number }

/**
 * Enqueues a message to Temporal in the transaction of the fact. Returns the row as the fast path dispatches it; undefined
 * where it is of a task that waits.
 */
export const insertOutbox = async (
  sql: Transaction,
  entry: OutboxEntry,
  { ifAdmitted }: EnqueueOptions = {},
): Promise<OutboxRow | undefined> => {
  const start = entry.kind === 'signal' ? undefined : entry
  const [row] = await sql<{ id: string }[]>`
    insert into outbox (kind, workflow_type, workflow_id, task_queue, signal_name, args, options)
    select
      ${entry.kind},
      ${start?.workflowType ?? null},
      ${entry.workflowId},
      ${start?.taskQueue ?? null},
      ${entry.kind === 'signal' ? entry.signalName : null},
      ${sql.json((start?.args ?? []) as never)}::jsonb,
      ${sql.json((start?.options ?? {}) as never)}::jsonb
    ${ifAdmitted === undefined ? sql`` : sql`from task where id = ${ifAdmitted} and waits_on is null`}
    returning id
  `.execute()
  return row && { ...entry, id: row.id, attempts: 0 }
}

/** The workflow that starts the one with this id as its child. Only children that are sent signals matter here. */
const parentOf = (sql: Sql, workflowId: ReturnType<Sql>) =>
  sql`replace(${workflowId}, 'receive-archive/', 'publish-version/')`

interface Columns {
  id: string
  kind: OutboxEntry['kind']
  workflow_type: string
  workflow_id: string
  task_queue: string
  signal_name: string
  args: unknown[]
  options: StartOptions
  attempts: number
}

/**
 * Leases up to `limit` due rows in id order: a leased row is not due again for 5 s, so no transaction stays open during a
 * call to Temporal. A signal waits until the start of its workflow, or of that one's parent, was dispatched.
 */
export const leaseOutbox = async (sql: Sql, limit = 100): Promise<OutboxRow[]> => {
  const rows = await sql<Columns[]>`
    update outbox
    set next_attempt_at = clock_timestamp() + interval '5 seconds', attempts = attempts + 1
    where id in (
      select o.id
      from outbox o
      where o.dispatched_at is null
        and o.next_attempt_at <= clock_timestamp()
        and (o.kind <> 'signal' or not exists (
          select from outbox s
          where s.workflow_id in (o.workflow_id, ${parentOf(sql, sql`o.workflow_id`)})
            and s.kind <> 'signal' and s.dispatched_at is null
        ))
      order by o.id
      limit ${limit}
      for update skip locked
    )
    returning id, kind, workflow_type, workflow_id, task_queue, signal_name, args, options, attempts
  `
  return rows.map(toRow).toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
}

const toRow = (row: Columns): OutboxRow =>
  row.kind === 'signal'
    ? {
        kind: row.kind,
        id: row.id,
        attempts: row.attempts,
        workflowId: row.workflow_id,
        signalName: row.signal_name,
      }
    : {
        kind: row.kind,
        id: row.id,
        attempts: row.attempts,
        workflowId: row.workflow_id,
        workflowType: row.workflow_type,
        taskQueue: row.task_queue,
        args: row.args,
        options: row.options,
      }

/** A lost mark has its row dispatched once more, which does nothing twice: docs/reliability.md says why. */
export const markDispatched = async (sql: Sql, ids: readonly string[]): Promise<void> => {
  await sql`
    update outbox set dispatched_at = clock_timestamp(), last_error = null
    where id = any(${[...ids]}::text[]::bigint[]) and dispatched_at is null
    returning ${withoutSync(sql)}
  `
}

/** Subject of webhooks, and the trace that its workflow was started in. */
export interface Traced {
  subject: string
  traceparent: string
}

/** Lists the traces of tasks and versions by their ids. Rows are kept for a week, longer than any delivery lasts. */
export const listTraces = async (sql: Sql, subjects: readonly string[]): Promise<Traced[]> =>
  await sql`
  select subject, options->>'traceparent' as traceparent
  from unnest(${[...subjects]}::text[]) as subject
  join outbox on kind = 'start' and options ? 'traceparent' and workflow_id = any(
    array['image-task/' || subject, 'video-task/' || subject, 'publish-version/' || subject]
  )
`

/** Backoff in seconds after the nth try; steady from the fourth on, since an outage should end with little delay. */
const BACKOFF_SECONDS = [1, 2, 4, 5] as const

export const markFailed = async (sql: Sql, row: OutboxRow, message: string): Promise<void> => {
  const seconds = BACKOFF_SECONDS[Math.min(row.attempts, BACKOFF_SECONDS.length) - 1] ?? 1
  await sql`
    update outbox
    set next_attempt_at = clock_timestamp() + make_interval(secs => ${seconds}), last_error = ${message.slice(0, 500)}
    where id = ${row.id} and dispatched_at is null
  `
}

/** True when a start of this workflow or of its parent waits to be dispatched, so that a signal to it must wait. */
export const isStartPending = async (sql: Sql, workflowId: string): Promise<boolean> => {
  const [row] = await sql`
    select from outbox
    where workflow_id in (${workflowId}, ${parentOf(sql, sql`${workflowId}`)})
      and kind <> 'signal' and dispatched_at is null
    limit 1
  `
  return row !== undefined
}

/** Reads for operators the rows that have waited longest, and how many rows wait, counted up to 10,000. */
export const readWaitingOutbox = async (sql: Sql): Promise<WaitingOutbox> => {
  const [row] = await sql<WaitingOutbox[]>`
    with oldest as (
      select workflow_id, kind, attempts as tries, ${instant(sql, sql`created_at`)} as at, last_error
      from outbox where dispatched_at is null order by id limit 20
    )
    select
      (select count(*) from (
        select from outbox where dispatched_at is null limit ${COUNTED}
      ) counted)::float8 as waiting,
      (select coalesce(json_agg(json_strip_nulls(row_to_json(oldest))), '[]') from oldest) as rows
  `
  return row ?? { waiting: 0, rows: [] }
}

const COUNTED = 10_000
