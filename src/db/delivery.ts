import type { AttemptErrorClass } from '../domain/event.ts'
import type { Queryable, Sql, Transaction } from './client.ts'

/** An event that is to be sent next, and when. */
export interface DueEvent {
  id: string
  sequence: number
  status: string
  /** Tries that failed. */
  failures: number
  /** Milliseconds until the next try is due; 0: at once. */
  waitMs: number
  /** What came of the try before: a class, with the answer's status where there was one. */
  lastFailure: string | null
}

/** Where the delivery of a task's events stands. */
export interface DeliveryState {
  /** The first event in the order of the task that is not settled. */
  next: DueEvent | undefined
  /** No further event will be written. */
  hasEnded: boolean
}

/** Tries after which an event that a later one has overtaken is dropped, unless it is the task's end. */
const TRIES_WHEN_OVERTAKEN = 3

/**
 * Finds the event of a task that is to be sent next. Events that were tried three times and that a later one has
 * overtaken are dropped on the way.
 */
export const findDelivery = async (sql: Queryable, taskId: string): Promise<DeliveryState> => {
  await sql`
    update event e set state = 'superseded', next_attempt_at = null
    where e.task_id = ${taskId} and e.state = 'pending' and e.failures >= ${TRIES_WHEN_OVERTAKEN}
      and exists (select from event later where later.task_id = e.task_id and later.sequence > e.sequence)
  `
  const [row] = await sql<(Partial<DueEvent> & { hasEnded: boolean })[]>`
    select t.ended_at is not null as "hasEnded", e.id, e.sequence, e.status, e.failures,
      ${waitOf(sql)} as "waitMs", ${lastFailureOf(sql)} as "lastFailure"
    from task t
    left join lateral (
      select * from event where task_id = t.id and state = 'pending' order by sequence limit 1
    ) e on true
    where t.id = ${taskId}
  `
  if (!row) return { next: undefined, hasEnded: true }
  const { hasEnded, id, ...event } = row
  return { hasEnded, next: id ? ({ id, ...event } as DueEvent) : undefined }
}

/** The same of one redelivery; undefined once it is settled. */
export const findRedelivery = async (
  sql: Queryable,
  redeliveryId: string,
): Promise<DueEvent | undefined> => {
  const [row] = await sql<DueEvent[]>`
    select d.event_id as id, ev.sequence, ev.status, e.failures,
      ${waitOf(sql)} as "waitMs", ${lastFailureOf(sql)} as "lastFailure"
    from redelivery d
    join event ev on ev.id = d.event_id
    cross join lateral (select d.failures, d.next_attempt_at, d.event_id as id) e
    where d.id = ${redeliveryId} and d.state = 'pending'
  `
  return row
}

const waitOf = (sql: Queryable) => sql`
  greatest(0, ceil(1000 * extract(epoch from coalesce(e.next_attempt_at, clock_timestamp()) - clock_timestamp())))::float8
`

const lastFailureOf = (sql: Queryable) => sql`
  (select concat_ws(' ', a.error_class, a.status) from attempt a
    where a.event_id = e.id and a.error_class is not null order by a.number desc limit 1)
`

/** Whose schedule a try belongs to: the event's own, or that of a redelivery. */
export interface Target {
  eventId: string
  redeliveryId?: string
}

/** The address that an event goes to; undefined when there is none. */
export const findReceiver = async (
  sql: Queryable,
  eventId: string,
): Promise<string | undefined> => {
  const [row] = await sql<{ url: string | null }[]>`
    select t.webhook_url as url from event e join task t on t.id = e.task_id where e.id = ${eventId}
  `
  return row?.url ?? undefined
}

/** What is sent, to where, once its attempt is written down. */
export interface BegunAttempt {
  number: number
  /** Tries of this schedule that failed before. */
  failures: number
  sequence: number
  status: string
  taskId: string
  family: 'image' | 'video'
  owner: string
  url: string
}

/**
 * Writes an attempt down before it is sent, so that one whose worker dies is known to have been. Undefined when there is
 * nothing to send any more.
 */
export const beginAttempt = async (
  sql: Transaction,
  { eventId, redeliveryId }: Target,
): Promise<BegunAttempt | undefined> => {
  // The lock keeps two of them from taking the same number.
  const [event] = await sql<Omit<BegunAttempt, 'number'>[]>`
    select e.sequence, e.status, t.id as "taskId", t.family, t.owner, t.webhook_url as url,
      case when d.id is null then e.failures else d.failures end as failures
    from event e
    join task t on t.id = e.task_id
    left join redelivery d on d.id = ${redeliveryId ?? null}::uuid
    where e.id = ${eventId} and t.webhook_url is not null
      and case when d.id is null then e.state else d.state end = 'pending'
    for update of e
  `
  if (!event) return undefined
  const [attempt] = await sql<{ number: number }[]>`
    insert into attempt (event_id, number, redelivery_id, url)
    select ${eventId}, coalesce(max(number), 0) + 1, ${redeliveryId ?? null}::uuid,
      ${withoutQuery(event.url)}
    from attempt where event_id = ${eventId}
    returning number
  `
  return attempt && { ...event, number: attempt.number }
}

/** The query of a receiver's address may be a secret. */
const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

/** What came of an attempt. */
export interface AttemptResult {
  durationMs: number
  address: string | undefined
  status: number | undefined
  errorClass: AttemptErrorClass | undefined
  answer: string | undefined
}

/** What that means for the schedule it belongs to. */
export type Verdict =
  | { state: 'delivered' }
  /** The receiver wants nothing more of this task. */
  | { state: 'stopped' }
  | { state: 'pending'; waitSeconds: number }
  | { state: 'exhausted' }

/** Completes an attempt together with what it means for its event; a repetition changes nothing. */
export const completeAttempt = async (
  sql: Transaction,
  target: Target & { number: number },
  { result, verdict }: { result: AttemptResult; verdict: Verdict },
): Promise<void> => {
  const wait = verdict.state === 'pending' ? verdict.waitSeconds : null
  const { count } = await sql`
    update attempt set
      duration_ms = ${Math.round(result.durationMs)},
      address = ${result.address ?? null},
      status = ${result.status ?? null},
      error_class = ${result.errorClass ?? null},
      answer = ${result.answer ?? null},
      next_due_at = ${dueIn(sql, wait)}
    where event_id = ${target.eventId} and number = ${target.number} and duration_ms is null
  `
  if (count === 0) return
  await settle(sql, target, { verdict, wait })
}

/** Writes down that an attempt was lost, with what that means for its event. */
export const loseAttempt = async (
  sql: Transaction,
  target: Target & { number: number },
  verdict: Verdict,
): Promise<void> => {
  const { count } = await sql`
    update attempt set error_class = 'unknown',
      -- how long nobody knows; not null any more, so that it is lost once
      duration_ms = extract(epoch from clock_timestamp() - started_at) * 1000
    where event_id = ${target.eventId} and number = ${target.number} and duration_ms is null
  `
  if (count === 0) return
  const wait = verdict.state === 'pending' ? verdict.waitSeconds : null
  await settle(sql, target, { verdict, wait })
}

const dueIn = (sql: Transaction, seconds: number | null) =>
  sql`clock_timestamp() + make_interval(secs => ${seconds}::float8)`

const settle = async (
  sql: Transaction,
  { eventId, redeliveryId }: Target,
  { verdict, wait }: { verdict: Verdict; wait: number | null },
): Promise<void> => {
  const { state } = verdict
  const failed = state === 'delivered' ? 0 : 1
  if (redeliveryId === undefined)
    await sql`
      update event set state = ${state}, failures = failures + ${failed},
        next_attempt_at = ${dueIn(sql, wait)}
      where id = ${eventId} and state = 'pending'
    `
  else {
    await sql`
      update redelivery set state = ${state}, failures = failures + ${failed},
        next_attempt_at = ${dueIn(sql, wait)}
      where id = ${redeliveryId} and state = 'pending'
    `
    if (state === 'delivered')
      await sql`update event set state = 'delivered', next_attempt_at = null where id = ${eventId}`
  }
  if (state === 'stopped') await stopTask(sql, eventId)
}

/** Nothing more is sent to a receiver that answered 410. */
const stopTask = async (sql: Transaction, eventId: string): Promise<void> => {
  await sql`
    update task set receiver_gone_at = coalesce(receiver_gone_at, clock_timestamp())
    where id = (select task_id from event where id = ${eventId})
  `
  await sql`
    update event set state = 'stopped', next_attempt_at = null
    where task_id = (select task_id from event where id = ${eventId}) and state = 'pending'
  `
}

/** An attempt whose worker was killed: it may have arrived. It counts as a try that failed. */
export interface LostAttempt {
  number: number
  failures: number
}

/** The attempt of a schedule that was begun and never completed, if there is one. */
export const findLostAttempt = async (
  sql: Queryable,
  { eventId, redeliveryId }: Target,
): Promise<LostAttempt | undefined> => {
  const [row] = await sql<LostAttempt[]>`
    select a.number, coalesce(d.failures, e.failures) as failures
    from attempt a
    join event e on e.id = a.event_id
    left join redelivery d on d.id = a.redelivery_id
    where a.event_id = ${eventId} and a.duration_ms is null
      and a.redelivery_id is not distinct from ${redeliveryId ?? null}::uuid
    order by a.number
    limit 1
  `
  return row
}

export interface StillDelivery {
  taskId: string
  kind: string
  owner: string
}

/** Tasks with an event that should have been tried long ago although nothing of theirs waits for the relay. */
export const listStillDeliveries = async (
  sql: Sql,
  { afterSeconds, limit }: { afterSeconds: number; limit: number },
): Promise<StillDelivery[]> =>
  await sql`
  select distinct t.id as "taskId", t.kind, t.owner
  from event e
  join task t on t.id = e.task_id
  where e.state = 'pending'
    and coalesce(e.next_attempt_at, e.created_at) < clock_timestamp() - make_interval(secs => ${afterSeconds})
    and not exists (
      select from outbox o
      where o.workflow_id in ('deliver-events/' || t.id, t.family || '-task/' || t.id)
        and o.kind <> 'signal' and o.dispatched_at is null
    )
  limit ${limit}
`
