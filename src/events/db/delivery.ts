import type { WaitingDeliveries } from '../../tasks/domain/operations.ts'
import type { Fragment, Queryable, Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { isHostPaused } from '../../tasks/db/pause.ts'
import { knownFailures } from './attempt.ts'
import type { TaskToStart } from '../../tasks/db/admission.ts'
import { isAmong, type StalledOptions } from '../../platform/db/reconcile.ts'

/** The event that is sent next, and when. */
export interface DueEvent {
  id: string
  sequence: number
  status: string
  /** Attempts that failed. */
  failures: number
  /** Milliseconds until the next attempt is due; 0: at once. */
  waitMs: number
  /** Class of the last failure, with the status of the response where there was one. */
  lastFailure: string | null
  /** Host that it is sent to; null when it is sent nowhere any more. */
  host: string | null
}

/**
 * Attempts that failed after which an event that a later one has overtaken is dropped. An event of a webhook subscription,
 * such as a publication before a ban, says more than the state that followed, so it is tried three times.
 */
export const attemptsWhenOvertaken = (sql: Queryable, endpointId: Fragment): Fragment =>
  sql`case when ${endpointId} is null then 1 else 3 end`

/**
 * Drops the events of tasks that have failed often enough and that a later one has overtaken, unless an attempt is under
 * way. The later one is then due at once (trigger `event_leaves_first_attempt`, 0013). Nothing comes after the end of a task,
 * so its event is never dropped.
 */
export const dropOvertaken = async (sql: Queryable, taskIds: readonly string[]): Promise<void> => {
  if (taskIds.length === 0) return
  await sql`
    update event set state = 'superseded', next_attempt_at = null
    where id in (
      select e.id from event e
      where e.task_id = any(${[...taskIds]}::uuid[]) and e.state = 'pending'
        and exists (
          select from event later where later.task_id = e.task_id and later.sequence > e.sequence
        )
        and (select count(*) from (${knownFailures(sql, sql`e.id`)}) known)
          >= ${attemptsWhenOvertaken(sql, sql`e.endpoint_id`)}
        and not exists (
          select from attempt a
          where a.event_id = e.id and a.redelivery_id is null
            and a.duration_ms is null and a.error_class is null
        )
      for update skip locked
    )
  `
}

/** Drops the overtaken events of a task. Finds the event that is sent next; undefined when there is none. */
export const findDelivery = async (
  sql: Queryable,
  taskId: string,
): Promise<DueEvent | undefined> => {
  await dropOvertaken(sql, [taskId])
  const [row] = await sql<DueEvent[]>`
    select e.id, e.sequence, e.status, e.failures,
      ${waitOf(sql)} as "waitMs", ${lastFailureOf(sql)} as "lastFailure",
      ${hostFor(sql)} as host
    from event e
    where e.task_id = ${taskId} and e.state = 'pending'
    order by e.sequence
    limit 1
  `
  return row
}

/** Finds the event that a redelivery sends; undefined once the redelivery has ended. */
export const findRedelivery = async (
  sql: Queryable,
  redeliveryId: string,
): Promise<DueEvent | undefined> => {
  const [row] = await sql<DueEvent[]>`
    select d.event_id as id, ev.sequence, ev.status, e.failures,
      ${waitOf(sql)} as "waitMs", ${lastFailureOf(sql)} as "lastFailure",
      ${hostFor(sql)} as host
    from redelivery d
    join event ev on ev.id = d.event_id
    cross join lateral (select d.failures, d.next_attempt_at, d.event_id as id) e
    where d.id = ${redeliveryId} and d.state = 'pending'
  `
  return row
}

/** Milliseconds after which a delivery whose host is paused reads again whether it still is. */
const PAUSED_MS = 60_000

/** Milliseconds until `e`, an event or a redelivery, is due. */
const waitOf = (sql: Queryable) => sql`
  greatest(
    ceil(1000 * extract(epoch from coalesce(e.next_attempt_at, clock_timestamp()) - clock_timestamp())),
    (select ${PAUSED_MS}::float8 from event_webhook t
      where t.id = e.id and ${isHostPaused(sql, sql`host_of(t.url)`)}),
    0)::float8
`

const lastFailureOf = (sql: Queryable) => sql`
  (select concat_ws(' ', a.error_class, a.status) from attempt a
    where a.event_id = e.id and a.error_class is not null order by a.number desc limit 1)
`

const hostFor = (sql: Queryable) =>
  sql`(select host_of(t.url) from event_webhook t where t.id = e.id and t.url is not null)`

/**
 * The task of a redelivery, when the delivery of its events waits for something that the redelivery may have changed:
 * it has events of its own schedule, or it planned an attempt that is no longer needed.
 */
export const findTaskInWait = async (
  sql: Queryable,
  redeliveryId: string,
): Promise<string | undefined> => {
  const [row] = await sql<{ taskId: string }[]>`
    select e.task_id as "taskId"
    from redelivery d
    join event e on e.id = d.event_id
    where d.id = ${redeliveryId} and exists (
      select from event o
      left join attempt a on a.event_id = o.id and a.redelivery_id is null
      where o.task_id = e.task_id and (o.state = 'pending' or a.next_due_at > clock_timestamp())
    )
  `
  return row?.taskId
}

export type StillDelivery = Pick<TaskToStart, 'id' | 'kind' | 'owner'>

/**
 * Tasks whose next event should have been tried again long ago although nothing of theirs waits for the relay, in the
 * order of their ids. Events behind the next one show nothing: they wait for it.
 */
export const listStalledDeliveries = async (
  sql: Sql,
  { afterSeconds, ids, limit }: StalledOptions,
): Promise<StillDelivery[]> =>
  await sql`
  select e.task_id as id, t.kind, t.owner
  from (
    select distinct on (task_id) id, task_id, failures, coalesce(next_attempt_at, created_at) as due_at
    from event
    where state = 'pending' and ${isAmong(sql, sql`task_id`, ids)}
    order by task_id, sequence
  ) e
  join event_webhook t on t.id = e.id
  where e.due_at < now() - make_interval(secs => ${afterSeconds}) and e.failures > 0
    and not ${isHostPaused(sql, sql`host_of(t.url)`)}
    and not exists (
      select from outbox o
      where o.workflow_id = 'deliver-events/' || e.task_id
        and o.kind <> 'signal' and o.dispatched_at is null
    )
  order by e.task_id
  limit ${limit}
`

export type StillRedelivery = Pick<TaskToStart, 'id' | 'owner'>

/** Redeliveries that should have been tried long ago although nothing of theirs waits for the relay. */
export const listStalledRedeliveries = async (
  sql: Sql,
  { afterSeconds, ids, limit }: StalledOptions,
): Promise<StillRedelivery[]> =>
  await sql`
  select d.id, t.owner
  from redelivery d
  join event_webhook t on t.id = d.event_id
  where d.state = 'pending' and ${isAmong(sql, sql`d.id`, ids)}
    and coalesce(d.next_attempt_at, d.created_at)
      < now() - make_interval(secs => ${afterSeconds})
    and not ${isHostPaused(sql, sql`host_of(t.url)`)}
    and not exists (
      select from outbox o
      where o.workflow_id = 'redeliver-event/' || d.id
        and o.kind <> 'signal' and o.dispatched_at is null
    )
  order by d.id
  limit ${limit}
`

/**
 * Counts the deliveries that wait, by the host of their webhook URL. Ids of tasks are random, so the first rows by them
 * are a sample of all: it is enough to see who does not respond, whatever waits.
 */
export const listWaitingUrls = async (sql: Sql): Promise<WaitingDeliveries> => {
  const [row] = await sql<WaitingDeliveries[]>`
    with events as (
      select id, failures, created_at, next_attempt_at
      from event where state = 'pending' order by task_id, sequence limit ${SAMPLE}
    ), waiting as (
      select * from events
      union all (
        select event_id, failures, created_at, next_attempt_at
        from redelivery where state = 'pending' order by event_id limit ${SAMPLE}
      )
    ), hosts as (
      select host_of(t.url) as host, count(*)::float8 as waiting,
        (count(*) filter (where w.failures > 0))::float8 as failing,
        ${instant(sql, sql`min(w.created_at)`)} as oldest_at,
        ${instant(sql, sql`min(w.created_at) filter (where w.failures > 0)`)} as failing_since,
        (array_agg(distinct t.owner) filter (where w.failures > 0))[1:${NAMED}] as failing_owners,
        (count(distinct t.owner) filter (where w.failures > 0))::float8 as failing_owners_total,
        ${instant(sql, sql`min(w.next_attempt_at)`)} as next_try_at,
        case when ${isHostPaused(sql, sql`host_of(t.url)`)} then true end as paused,
        (array_agg(w.id order by w.next_attempt_at desc nulls last) filter (where w.failures > 0))[1:${LOOKED_AT}] as failed_ids
      from waiting w join event_webhook t on t.id = w.id
      where t.url is not null
      group by 1
    )
    select (select coalesce(sum(waiting), 0) from hosts)::float8 as waiting,
      (select count(*) from waiting) >= ${SAMPLE} as is_sample,
      (select coalesce(json_agg(json_strip_nulls(row_to_json(r))), '[]')
        from (
          select host, waiting, failing, failing_since, failing_owners,
            nullif(failing_owners_total, 0) as failing_owners_total, oldest_at, next_try_at, paused, last.*
          from (select * from hosts order by waiting desc, host limit 100) h
          left join lateral (
            select a.status as last_status, a.error_class as last_error_class from attempt a
            where a.event_id = any(h.failed_ids) and a.error_class is not null
            order by a.started_at desc limit 1
          ) last on true
          order by waiting desc, host
        ) r) as receivers
  `
  return row ?? { waiting: 0, is_sample: false, receivers: [] }
}

const SAMPLE = 10_000
/** Owners of failing events of a host that are named. */
const NAMED = 3
/** Failing events of a host of which the newest attempt is shown: they fail alike. */
const LOOKED_AT = 10
