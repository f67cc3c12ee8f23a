import type { AttemptErrorClass } from '../domain/event.ts'
import { withoutQuery } from '../../platform/domain/address.ts'
import type { Fragment, Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { purgeBatch } from '../../platform/db/purge.ts'
import { holdPauses, isHostPaused } from '../../tasks/db/pause.ts'
import { recordOutcome, stopEndpointEvents } from './endpoint-state.ts'
import { endRecovery, recordRecovery } from './recovery.ts'

/** Schedule that an attempt belongs to: the event's own, or a redelivery's. */
export interface Target {
  eventId: string
  redeliveryId?: string
}

/** One row of the log. */
export interface AttemptKey extends Target {
  number: number
}

/** Finds an event's URL, with the owner and account that it counts for; undefined when there is none, or no more. */
export const findWebhookUrl = async (
  sql: Queryable,
  eventId: string,
): Promise<{ url: string; owner: string; account: string } | undefined> => {
  const [row] = await sql<{ url: string; owner: string; account: string }[]>`
    select url, owner, account from event_webhook where id = ${eventId} and url is not null
  `
  return row
}

export interface SentEvent {
  sequence: number
  status: string
  /** Id of the task; of a subscription's event, its chain. */
  taskId: string
  /** Family of the task that it is about, if it is about one. */
  family: 'image' | 'video' | null
  owner: string
  url: string
  /** Event of a webhook subscription or a batch; null when it is for the URL that its task names. */
  endpoint: NotifiedEndpoint | null
}

/** An attempt that is recorded and may be sent. */
export interface BegunAttempt extends SentEvent {
  number: number
  /** Attempts of this schedule that failed before; what became of a lost one is not known, so it is not among them. */
  failures: number
  /** Made before its schedule has it, so it takes no step of the schedule. */
  isHastened: boolean
}

export interface NotifiedEndpoint {
  /** Null of the end of a batch, which is for the URL that the batch names. */
  id: string | null
  /** The task or version that it is about, or another thing; null of a test. */
  subjectId: string | null
  /** Null where it is made of the task. */
  data: object | null
  /** When it happened. */
  at: string
  format: 'json' | 'slack'
  /** Own headers of the subscription, encrypted; null of none. */
  headers?: string | null
}

/**
 * Writes an attempt down before it is sent, so that it is known even when its worker dies. Undefined when there is
 * nothing to send any more, or not to the address that was looked up, or its host is paused.
 */
export const beginAttempt = async (
  sql: Transaction,
  { eventId, redeliveryId }: Target,
  url: string,
): Promise<BegunAttempt | undefined> => {
  await holdPauses(sql)
  // The lock keeps two attempts from taking the same number.
  const [event] = await sql<Omit<BegunAttempt, 'number'>[]>`
    select e.sequence, e.status, e.task_id as "taskId", t.family, t.owner, t.url, t.endpoint,
      (select count(*)::integer from (${knownFailures(sql, sql`e.id`, redeliveryId)}) known) as failures,
      coalesce(case when d.id is null then e.scheduled_at else d.scheduled_at end > clock_timestamp(),
        false) as "isHastened"
    from event e
    join event_webhook t on t.id = e.id
    left join redelivery d on d.id = ${redeliveryId ?? null}::uuid
    where e.id = ${eventId} and t.url = ${url} and not ${isHostPaused(sql, sql`host_of(t.url)`)}
      and case when d.id is null then e.state else d.state end = 'pending'
    for update of e
  `
  if (!event) return undefined
  const [attempt] = await sql<{ number: number }[]>`
    insert into attempt (event_id, number, redelivery_id, url, hastened, header_names)
    select ${eventId}, coalesce(max(number), 0) + 1, ${redeliveryId ?? null}::uuid,
      ${withoutQuery(event.url)}, ${event.isHastened},
      (select p.header_names from endpoint p where p.id = ${event.endpoint?.id ?? null}::uuid)
    from attempt where event_id = ${eventId}
    returning number
  `
  return attempt && { ...event, number: attempt.number }
}

/** Selects the attempts of a schedule, without hastened ones, that failed as the webhook URL itself showed. */
export const knownFailures = (
  sql: Queryable,
  eventId: Fragment,
  redeliveryId?: string,
): Fragment => sql`
  select from attempt known
  where known.event_id = ${eventId} and known.error_class <> 'unknown' and not known.hastened
    and known.redelivery_id is not distinct from ${redeliveryId ?? null}::uuid
`

export interface AttemptResult {
  durationMs: number
  address: string | undefined
  status: number | undefined
  errorClass: AttemptErrorClass | undefined
  /** Sentence for the owner of the webhook URL. */
  errorDetail?: string | undefined
  answer: string | undefined
}

/** Meaning of an attempt for the schedule that it belongs to. */
export type AttemptVerdict =
  | { state: 'delivered' }
  /** The subscriber wants nothing more of this task. */
  | { state: 'stopped' }
  /** Asked: for so long the response wants nothing, see Retry-After. */
  | { state: 'pending'; waitSeconds: number; askedSeconds?: number }
  /** An endpoint at which nothing has arrived for so long is switched off. */
  | { state: 'exhausted'; disableSeconds?: number }

/**
 * Completes an attempt together with what it means for its event; a repetition changes nothing. If the attempt was
 * given up as lost meanwhile, its result is still taken, and it counts as one attempt only.
 */
export const completeAttempt = async (
  sql: Transaction,
  key: AttemptKey,
  { result, verdict }: { result: AttemptResult; verdict: AttemptVerdict },
): Promise<void> => {
  const open = await lockOpen(sql, key)
  if (!open) return
  await sql`
    update attempt set
      duration_ms = ${Math.round(result.durationMs)},
      address = ${result.address ?? null},
      status = ${result.status ?? null},
      error_class = ${result.errorClass ?? null},
      error_detail = ${result.errorDetail ?? null},
      answer = ${result.answer ?? null}
    where event_id = ${key.eventId} and number = ${key.number}
  `
  if (open.isLost && !isFinal(verdict)) return
  const { endpointId, url } = open
  const isOff = endpointId !== null && (await recordOutcome(sql, endpointId, verdict))
  await closeAttempt(sql, key, { verdict, url, attempts: open.isLost || open.isHastened ? 0 : 1 })
  if (isOff) await stopEndpointEvents(sql, endpointId)
  // Last: whoever waits for the row of a host must hold nothing that another waits for.
  if (verdict.state === 'delivered') await recordRecovery(sql, [url])
  else if (open.isHastened && verdict.state !== 'stopped') await endRecovery(sql, url)
}

/**
 * Writes down that an attempt was lost, with what that means for its event. It does so once, and never for a completed
 * attempt.
 */
export const loseAttempt = async (
  sql: Transaction,
  key: AttemptKey,
  verdict: AttemptVerdict,
): Promise<void> => {
  const open = await lockOpen(sql, key)
  if (!open || open.isLost) return
  await sql`
    update attempt set error_class = 'unknown'
    where event_id = ${key.eventId} and number = ${key.number}
  `
  await closeAttempt(sql, key, { verdict, url: open.url, attempts: open.isHastened ? 0 : 1 })
}

/** An attempt that was begun and not completed. */
interface OpenAttempt {
  /** Its error class says already that it was lost. */
  isLost: boolean
  isHastened: boolean
  url: string
  endpointId: string | null
}

const lockOpen = async (
  sql: Transaction,
  { eventId, number }: AttemptKey,
): Promise<OpenAttempt | undefined> => {
  const [row] = await sql<OpenAttempt[]>`
    select error_class is not null as "isLost", hastened as "isHastened", url,
      (select endpoint_id from event where id = event_id) as "endpointId"
    from attempt
    where event_id = ${eventId} and number = ${number} and duration_ms is null
    for update
  `
  return row
}

/** True when the subscriber's server itself has said so, whatever its silence was taken for before. */
const isFinal = ({ state }: AttemptVerdict): boolean => state === 'delivered' || state === 'stopped'

interface Outcome {
  verdict: AttemptVerdict
  url: string
  /** Failed attempts that it adds; 0: it was counted already when it was lost, or is hastened. */
  attempts: 0 | 1
}

/**
 * Moves the schedule of an attempt. All code here locks rows in one order (task, redeliveries, events), so two
 * transactions never wait for each other.
 */
const closeAttempt = async (sql: Transaction, key: AttemptKey, outcome: Outcome): Promise<void> => {
  const { eventId, redeliveryId } = key
  const { state } = outcome.verdict
  const isStopped = state === 'stopped'
  if (isStopped) await markGone(sql, eventId)
  const ofRedelivery =
    redeliveryId === undefined ? undefined : await advance(sql, 'redelivery', redeliveryId, outcome)
  if (isStopped) await stopRedeliveries(sql, taskOf(sql, eventId))
  const ofEvent =
    redeliveryId === undefined ? await advance(sql, 'event', eventId, outcome) : undefined
  if (state === 'delivered') await markDelivered(sql, eventId)
  if (isStopped) await stopEvents(sql, taskOf(sql, eventId))
  const dueAt = ofRedelivery ?? ofEvent
  if (dueAt)
    await sql`
      update attempt set next_due_at = ${dueAt}::timestamptz
      where event_id = ${eventId} and number = ${key.number}
    `
}

/**
 * Records the outcome and returns when the next attempt is due, as the database writes it. A Date would lose the
 * microseconds. A hastened attempt that failed leaves the schedule as it was; one that was lost (no wait) is made again.
 */
const advance = async (
  sql: Transaction,
  schedule: 'event' | 'redelivery',
  id: string,
  { verdict, url, attempts }: Outcome,
): Promise<string | undefined> => {
  const wait = verdict.state === 'pending' ? verdict.waitSeconds : null
  const asked = verdict.state === 'pending' ? (verdict.askedSeconds ?? 0) : null
  const [row] = await sql<{ dueAt: string | null }[]>`
    update ${sql(schedule)} set
      state = ${verdict.state},
      failures = failures + ${verdict.state === 'delivered' ? 0 : attempts},
      next_attempt_at = case when ${wait !== null} then greatest(
        clock_timestamp() + make_interval(secs => ${wait}::float8),
        case when ${wait !== 0} then scheduled_at end) end,
      scheduled_at = case when ${wait === 0} then scheduled_at end,
      failed_host = host_of(${url}),
      hasten_after = greatest(hasten_after,
        clock_timestamp() + make_interval(secs => ${asked}::float8))
    where id = ${id} and state = 'pending'
    returning next_attempt_at::text as "dueAt"
  `
  return row?.dueAt ?? undefined
}

/** This includes an event whose own schedule had ended or was overtaken. */
const markDelivered = async (sql: Transaction, eventId: string): Promise<void> => {
  await sql`
    update event set state = 'delivered', next_attempt_at = null
    where id = ${eventId} and state <> 'delivered'
  `
}

const markGone = async (sql: Transaction, eventId: string): Promise<void> => {
  await sql`
    update task set receiver_gone_at = coalesce(receiver_gone_at, clock_timestamp())
    where id = (select task_id from event where id = ${eventId} and endpoint_id is null)
  `
}

/** Stops what is due of a task that is to notify nobody any more; returns the redeliveries that were under way. */
export const stopTaskEvents = async (sql: Transaction, taskId: string): Promise<string[]> => {
  const redeliveries = await stopRedeliveries(sql, sql`${taskId}::uuid`)
  await stopEvents(sql, sql`${taskId}::uuid`)
  return redeliveries
}

const stopRedeliveries = async (sql: Transaction, taskId: Fragment): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    update redelivery set state = 'stopped', next_attempt_at = null
    where state = 'pending' and event_id in (select id from event where task_id = ${taskId})
    returning id
  `
  return rows.map(({ id }) => id)
}

const stopEvents = async (sql: Transaction, taskId: Fragment): Promise<void> => {
  await sql`
    update event set state = 'stopped', next_attempt_at = null
    where state = 'pending' and task_id = ${taskId}
  `
}

/** Gives an event up that is to be delivered to nobody any more. */
export const stopEvent = async (sql: Transaction, eventId: string): Promise<void> => {
  await sql`
    update redelivery set state = 'stopped', next_attempt_at = null
    where state = 'pending' and event_id = ${eventId}
  `
  await sql`
    update event set state = 'stopped', next_attempt_at = null
    where state = 'pending' and id = ${eventId}
  `
}

const taskOf = (sql: Transaction, eventId: string): Fragment =>
  sql`(select task_id from event where id = ${eventId})`

/** An attempt whose worker was killed: it may have arrived. */
export interface LostAttempt extends AttemptKey {
  /** Attempts of its schedule that failed before, without lost ones. */
  failures: number
  /** Attempts of its schedule that were lost since the last one that was not. */
  lostBefore: number
}

/** Selects the facts of attempt `a` by which the next one is planned. */
const standingOf = (sql: Queryable): Fragment => sql`
  select (count(*) filter (where o.error_class <> 'unknown' and not o.hastened))::integer as failures,
    (count(*) filter (where o.error_class = 'unknown' and o.number > all (
      select k.number from attempt k
      where k.event_id = a.event_id and k.redelivery_id is not distinct from a.redelivery_id
        and k.error_class <> 'unknown'
    )))::integer as "lostBefore"
  from attempt o
  where o.event_id = a.event_id and o.redelivery_id is not distinct from a.redelivery_id
`

/**
 * The first attempt of a task's own schedules that was begun and never completed, if there is one. Its event may have
 * been settled meanwhile in another way. The caller has no attempt under way; a first attempt is not the caller's.
 */
export const findLostAttempt = async (
  sql: Queryable,
  taskId: string,
): Promise<LostAttempt | undefined> => {
  const [row] = await sql<LostAttempt[]>`
    select a.event_id as "eventId", a.number, o.*
    from event e
    join attempt a on a.event_id = e.id
    cross join lateral (${standingOf(sql)}) o
    where e.task_id = ${taskId} and a.redelivery_id is null
      and not (e.state = 'pending' and e.failures = 0)
      and a.duration_ms is null and a.error_class is null
    order by e.sequence, a.number
    limit 1
  `
  return row
}

/** The first attempt of a redelivery that was begun and never completed, if there is one. */
export const findLostRedelivery = async (
  sql: Queryable,
  redeliveryId: string,
): Promise<LostAttempt | undefined> => {
  const [row] = await sql<LostAttempt[]>`
    select a.event_id as "eventId", a.redelivery_id as "redeliveryId", a.number, o.*
    from redelivery d
    join attempt a on a.event_id = d.event_id and a.redelivery_id = d.id
    cross join lateral (${standingOf(sql)}) o
    where d.id = ${redeliveryId} and a.duration_ms is null and a.error_class is null
    order by a.number
    limit 1
  `
  return row
}

/** Deletes webhook attempts, some days after the end of their task; returns how many. */
export const deleteOldAttempts = async (sql: Sql, retentionDays: number): Promise<number> => {
  const { count } = await sql`
    delete from attempt
    where ctid in (
      select a.ctid from attempt a
      -- for each of the oldest: else an old plan may join all there are
      cross join lateral (
        select from event e join task t on t.id = e.task_id
        where e.id = a.event_id and t.ended_at < now() - make_interval(days => ${retentionDays})
        limit 1
      ) ended
      where a.started_at < now() - make_interval(days => ${retentionDays})
      order by a.started_at
      ${purgeBatch(sql)}
    )
  `
  return count
}
