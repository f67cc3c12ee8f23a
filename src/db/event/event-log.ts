import type { Attempt, TaskEvent, TaskEvents } from '../../domain/event/event.ts'
import type { OwnTasks, TaskScope } from '../../domain/shared/task-scope.ts'
import type { Fragment, Queryable, Sql, Transaction } from '../client.ts'
import type { StartOptions } from '../shared/outbox.ts'
import { PAUSED_EVENT } from '../../domain/task/waits-for.ts'
import { isHostPaused } from '../task/pause.ts'
import { isOfBatch, isWithin, type Bounds } from '../task/filter.ts'
import { waitsFor } from '../task/task-file.ts'
import { withoutQuery } from './attempt.ts'

/** The events of a task that the owner may read, in the order of their sequence; undefined when there is no such task. */
export const listEvents = async (
  sql: Sql,
  { taskId, owner }: { taskId: string; owner: string },
): Promise<TaskEvents | undefined> => {
  const rows = await sql<
    (Omit<TaskEvent, keyof EventTimes> & EventTimes & { url: string | null })[]
  >`
    select e.id, e.sequence, e.status, e.created_at, e.state, t.webhook_url as url,
      coalesce(d.next_attempt_at, e.next_attempt_at) as next_attempt_at,
      (select count(*)::integer from attempt a where a.event_id = e.id) as attempts,
      ${isDeliveryPaused(sql)} as "isPaused"
    from task t
    join event e on e.task_id = t.id
    left join redelivery d on d.event_id = e.id and d.state = 'pending'
    where t.id = ${taskId} and ${mayRead(sql, owner)}
    order by e.sequence
  `
  // Every task has its first event.
  const [first] = rows
  if (!first) return undefined
  return {
    ...(first.url !== null && { webhook_url: withoutQuery(first.url) }),
    events: rows.map(({ url: _url, ...event }) => showEvent(event)),
  }
}

/** True of event `e`, with a redelivery `d` that is pending, while it waits because the host of its webhook URL is paused. */
export const isDeliveryPaused = (sql: Queryable) => sql`
  ((e.state = 'pending' or d.id is not null) and exists (
    select from told_event o where o.id = e.id and ${isHostPaused(sql, sql`host_of(o.url)`)}
  ))
`

/** Converts the times of an event, and why it waits, to those of a response. */
export const showEvent = <Row extends EventTimes>({
  created_at: at,
  next_attempt_at: next,
  isPaused,
  ...event
}: Row) => ({
  ...event,
  created_at: at.toISOString(),
  ...(next && { next_attempt_at: next.toISOString() }),
  ...(isPaused && { waits_for: PAUSED_EVENT }),
})

export interface EventTimes {
  created_at: Date
  next_attempt_at: Date | null
  isPaused: boolean
}

/** An anonymous task belongs to whoever knows its id. */
export const mayRead = (sql: Queryable, owner: string) => sql`
  (t.owner = ${owner} or (t.owner = 'anonymous' and t.family = 'video'))
`

/** The condition that task `t` is of some families. */
export const ofFamilies = (sql: Queryable, families: TaskScope['families']) =>
  families ? sql`and t.family = any(${[...families]})` : sql``

/** Changes of a task for a watcher: where it is now, and the transitions after the one that the watcher knows. */
export interface TaskChanges {
  family: 'image' | 'video'
  progress: number
  /** Reasons of machines that do not take it; null unless it waits for one. */
  waitsFor: string[] | null
  hasEnded: boolean
  moves: { id: string; sequence: number; status: string; created_at: string }[]
}

/** Reads the changes of a task that the owner may read; undefined when there is no such task. */
export const readTaskChanges = async (
  sql: Sql,
  { taskId, owner, after }: { taskId: string; owner: string; after: number },
): Promise<TaskChanges | undefined> => {
  const [row] = await sql<(Omit<TaskChanges, 'moves'> & { moves: TaskChanges['moves'] | null })[]>`
    select t.family, t.progress, ${waitsFor(sql)} as "waitsFor", t.ended_at is not null as "hasEnded",
      (select json_agg(json_build_object('id', e.id, 'sequence', e.sequence, 'status', e.status,
          'created_at', e.created_at) order by e.sequence)
        from event e where e.task_id = t.id and e.sequence > ${after}) as moves
    from task t where t.id = ${taskId} and ${mayRead(sql, owner)}
  `
  if (!row) return undefined
  const transitions = row.moves ?? []
  return {
    ...row,
    moves: transitions.map((transition) => ({
      ...transition,
      created_at: new Date(transition.created_at).toISOString(),
    })),
  }
}

/** The place of an event among those of its task; undefined when it is none of them. */
export const findSequence = async (
  sql: Sql,
  { taskId, eventId }: { taskId: string; eventId: string },
): Promise<number | undefined> => {
  const [row] = await sql<{ sequence: number }[]>`
    select sequence from event where id = ${eventId} and task_id = ${taskId}
  `
  return row?.sequence
}

export interface EventOfTask {
  taskId: string
  eventId: string
  owner: string
}

export const existsEvent = async (
  sql: Queryable,
  { taskId, eventId, owner }: EventOfTask,
): Promise<boolean> => {
  const [row] = await sql`
    select from event e join task t on t.id = e.task_id
    where e.id = ${eventId} and t.id = ${taskId} and ${mayRead(sql, owner)}
  `
  return row !== undefined
}

/** The attempts at an event, in their order. */
export const listAttempts = async (sql: Sql, eventId: string): Promise<Attempt[]> => {
  const rows = await sql<AttemptRow[]>`
    select event_id, number, url, started_at, duration_ms, status, error_class, error_detail, answer,
      next_due_at
    from attempt where event_id = ${eventId} order by number
  `
  return rows.map((row) => ({
    event_id: row.event_id,
    number: row.number,
    url: row.url,
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
      select id, owner, url from told_event
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

const isExhausted = (sql: Queryable) => sql`e.state = 'exhausted' and t.webhook_url is not null`
const isIdle = (sql: Queryable) =>
  sql`not exists (select from redelivery d where d.event_id = e.id and d.state = 'pending')`

/** The condition that event `e` of `task t` can be sent again. */
export const isMissed = (sql: Queryable) => sql`${isExhausted(sql)} and ${isIdle(sql)}`

/** Most events that one request sends again. A further request takes the next ones. */
const MAX_REDELIVERIES = 10_000

/** Sends every exhausted event of an owner within bounds again, with the starts of their workflows; returns how many. */
export const redeliverExhausted = (
  sql: Transaction,
  { owner, families, batch, ...bounds }: OwnTasks & Bounds & { batch?: string | undefined },
  starts: RedeliveryStarts,
): Promise<number> => {
  const exhausted = sql`
    event e join task t on t.id = e.task_id
      where t.owner = ${owner} and ${isExhausted(sql)} ${isOfBatch(sql, batch)}
        ${ofFamilies(sql, families)} ${isWithin(sql, sql`t.last_moved_at`, { from: bounds.from })}
  `
  return redeliverEach(sql, { missed: exhausted, ...bounds }, starts)
}

/** The same of one task. */
export const redeliverTask = (
  sql: Transaction,
  taskId: string,
  starts: RedeliveryStarts,
): Promise<number> => {
  const exhausted = sql`event e join task t on t.id = e.task_id
      where t.id = ${taskId} and ${isExhausted(sql)}`
  return redeliverEach(sql, { missed: exhausted }, starts)
}

/** The same of an endpoint, and of what was stopped while it was off. */
export const redeliverToEndpoint = (
  sql: Transaction,
  { endpointId, batch, ...bounds }: Bounds & { endpointId: string; batch?: string | undefined },
  starts: RedeliveryStarts,
): Promise<number> => {
  const missed = sql`event e
      where e.endpoint_id = ${endpointId} and e.state in ('exhausted', 'stopped')
        ${isOfBatch(sql, batch, sql`e.subject_id`)}`
  return redeliverEach(sql, { missed, ...bounds }, starts)
}

const redeliverEach = async (
  sql: Transaction,
  { missed, ...bounds }: Bounds & { missed: Fragment },
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
    insert into outbox (kind, workflow_type, workflow_id, task_queue, args, options, next_try_at)
    select 'start', 'redeliverEvent', 'redeliver-event/' || id, ${taskQueue},
      jsonb_build_array(jsonb_build_object('redeliveryId', id)), ${sql.json(options as never)},
      clock_timestamp()
    from made
  `
  return count
}
