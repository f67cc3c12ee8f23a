import type { Attempt } from '../domain/event.ts'
import type { Labels } from '../../tasks/domain/task-options.ts'
import type { OwnTasks } from '../../platform/domain/task-scope.ts'
import type { Fragment, Sql, Transaction } from '../../platform/db/client.ts'
import type { StartOptions } from '../../platform/db/outbox.ts'
import { isOfBatch, isWithin, ofFamilies, type Bounds } from '../../tasks/db/filter.ts'
import { labelsOf } from '../../tasks/db/labels.ts'
import { isExhausted, isIdle } from '../../tasks/db/event-log.ts'
import { hasten, isInWait } from './recovery.ts'

/** The attempts at an event, in their order. */
export const listAttempts = async (sql: Sql, eventId: string): Promise<Attempt[]> => {
  const rows = await sql<AttemptRow[]>`
    select a.event_id, a.number, a.url, a.started_at, a.duration_ms, a.status, a.error_class,
      a.error_detail, answer, a.next_due_at, nullif(a.header_names, '{}') as header_names,
      ${labelsOf(sql)} as labels
    from attempt a
    join event e on e.id = a.event_id
    left join task t on t.id = coalesce(e.subject_id, e.task_id)
    where a.event_id = ${eventId} order by a.number
  `
  return rows.map((row) => ({
    event_id: row.event_id,
    number: row.number,
    url: row.url,
    ...(row.labels && { labels: row.labels }),
    ...(row.header_names && { header_names: row.header_names }),
    started_at: row.started_at.toISOString(),
    ...(row.duration_ms !== null && { duration_ms: row.duration_ms }),
    ...(row.status !== null && { status: row.status }),
    ...(row.error_class !== null && { error_class: row.error_class }),
    ...(row.error_detail !== null && { error_detail: row.error_detail }),
    ...(row.answer !== null && { excerpt: row.answer }),
    ...(row.next_due_at && { next_attempt_at: row.next_due_at.toISOString() }),
  }))
}

interface AttemptRow {
  event_id: string
  number: number
  url: string
  labels: Labels | null
  header_names: string[] | null
  started_at: Date
  duration_ms: number | null
  status: number | null
  error_class: NonNullable<Attempt['error_class']> | null
  error_detail: string | null
  answer: string | null
  next_due_at: Date | null
}

/** A redelivery that is under way, and whether it was begun just now. */
export interface BegunRedelivery {
  id: string
  isNew: boolean
  /** Owner of the task, and its webhook URL. */
  owner: string
  url: string
}

/** Begins to send an event again, unless that is already under way. Undefined when it is sent nowhere. */
export const insertRedelivery = async (
  sql: Transaction,
  eventId: string,
): Promise<BegunRedelivery | undefined> => {
  // A row that is already there is updated, so that it cannot end between the conflict and the read. Only an updated
  // row has an xmax.
  const [begun] = await sql<BegunRedelivery[]>`
    with target as (
      select id, owner, url from event_webhook
      where id = ${eventId} and url is not null and state <> 'unsent'
    ), begun as (
      insert into redelivery (event_id) select id from target
      on conflict (event_id) where state = 'pending' do update set event_id = excluded.event_id
      returning id, xmax = 0 as "isNew"
    )
    select begun.id, begun."isNew", target.owner, target.url from begun, target
  `
  return begun
}

/** Common options of the starts of many redeliveries. */
export interface RedeliveryStarts {
  taskQueue: string
  options: StartOptions
}

/** Most events that one request sends again. A further request takes the next ones. */
const MAX_REDELIVERIES = 10_000

/**
 * Sends every exhausted event of an owner within bounds again, with the starts of their workflows, and makes pending ones
 * that have failed due at once; returns how many.
 */
export const redeliverMissed = (
  sql: Transaction,
  { owner, families, batch, ...bounds }: OwnTasks & Bounds & { batch?: string | undefined },
  starts: RedeliveryStarts,
): Promise<number> => {
  const all = sql`
    event e join task t on t.id = e.task_id
      where t.owner = ${owner} and t.webhook_url is not null ${isOfBatch(sql, batch)}
        ${ofFamilies(sql, families)} ${isWithin(sql, sql`t.last_moved_at`, { from: bounds.from })}
  `
  return redeliverWithPending(
    sql,
    { all, missed: sql`${all} and e.state = 'exhausted'`, ...bounds },
    starts,
  )
}

/** Sends every exhausted event of one task again. */
export const redeliverTask = (
  sql: Transaction,
  taskId: string,
  starts: RedeliveryStarts,
): Promise<number> => {
  const exhausted = sql`event e join task t on t.id = e.task_id
      where t.id = ${taskId} and ${isExhausted(sql)}`
  return redeliverEach(sql, { missed: exhausted }, starts)
}

/** The same as of an owner of an endpoint, and of what was stopped while it was off. */
export const redeliverToEndpoint = (
  sql: Transaction,
  { endpointId, batch, ...bounds }: Bounds & { endpointId: string; batch?: string | undefined },
  starts: RedeliveryStarts,
): Promise<number> => {
  const all = sql`event e
      where e.endpoint_id = ${endpointId} ${isOfBatch(sql, batch, sql`e.subject_id`)}`
  const missed = sql`${all} and e.state in ('exhausted', 'stopped')`
  return redeliverWithPending(sql, { all, missed, ...bounds }, starts)
}

type Missed = Bounds & { missed: Fragment }

/** Pending ones come first: they cost no schedule more. */
const redeliverWithPending = async (
  sql: Transaction,
  { all, ...missed }: Missed & { all: Fragment },
  starts: RedeliveryStarts,
): Promise<number> => {
  const within = isWithin(sql, sql`e.created_at`, missed)
  const pick = sql`${isInWait(sql)} limit ${MAX_REDELIVERIES} for update of d skip locked`
  const events = sql`select d.id from event d where d.id in (select e.id from ${all} ${within}) and ${pick}`
  const redeliveries = sql`select d.id from redelivery d
    where d.event_id in (select e.id from ${all} ${within}) and ${pick}`
  const hastened =
    (await hasten(sql, 'redelivery', { waiting: redeliveries })) +
    (await hasten(sql, 'event', { waiting: events }))
  return hastened + (await redeliverEach(sql, missed, starts))
}

const redeliverEach = async (
  sql: Transaction,
  { missed, ...bounds }: Missed,
  { taskQueue, options }: RedeliveryStarts,
): Promise<number> => {
  const { count } = await sql`
    with made as (
      insert into redelivery (event_id)
      select e.id from ${missed} ${isWithin(sql, sql`e.created_at`, bounds)}
        -- those under way would use up the limit, and a further request would begin none
        and ${isIdle(sql)}
      order by e.created_at
      limit ${MAX_REDELIVERIES}
      on conflict (event_id) where state = 'pending' do nothing
      returning id
    )
    insert into outbox (kind, workflow_type, workflow_id, task_queue, args, options, next_attempt_at)
    select 'start', 'redeliverEvent', 'redeliver-event/' || id, ${taskQueue},
      jsonb_build_array(jsonb_build_object('redeliveryId', id)), ${sql.json(options as never)},
      clock_timestamp()
    from made
  `
  return count
}
