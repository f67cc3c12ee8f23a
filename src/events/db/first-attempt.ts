import { withoutQuery } from '../../platform/domain/address.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { withoutSync } from '../../platform/db/without-sync.ts'
import { holdPauses, isActive, isHostPaused } from '../../tasks/db/pause.ts'
import { attemptsWhenOvertaken } from './delivery.ts'
import type { AttemptKey, AttemptResult, SentEvent } from './attempt.ts'

/**
 * A first attempt that a worker holds: nobody else takes it before its lease has ended. The trigger `event_enters_first_attempt`
 * (0013) makes its row when a statement inserts a pending event, such as `transitionTask`.
 */
export interface FirstAttempt extends SentEvent {
  eventId: string
  /** Empty when nobody is to be notified any more. */
  url: string
  kind: string
  account: string
  host: string
  /** An earlier event of the task is still to be delivered, so this attempt is not to be made now. */
  isBlocked: boolean
  /** The earlier event has been tried, so it is dropped if it failed. */
  overtakes: boolean
  /** The attempt of a worker that was lost with it, or stands still. */
  lostNumber: number | null
}

export interface TakeOptions {
  /** Most attempts that are taken. */
  limit: number
  /** Most attempts that an account may have with this worker. */
  perAccount: number
  /** Attempts that each account has here already. */
  leased: ReadonlyMap<string, number>
  /** Hosts that have enough here. */
  fullHosts: readonly string[]
  /** The account that the call before ended with: accounts take turns. */
  after: string
  leaseSeconds: number
}

export interface TakenAttempts {
  attempts: FirstAttempt[]
  /** Account behind which the next call goes on. */
  after: string
  /** None waits, whether it is due or not. */
  isEmpty: boolean
}

/** Accounts that one call looks at. */
const ACCOUNTS = 100

/**
 * Seconds after which an attempt is looked at again that waits for an earlier event under way. One that waits for further attempts
 * is looked at rarely: whatever ends the earlier event makes it due.
 */
const BLOCKED_SECONDS = 0.25

/**
 * Takes first attempts that are due, the oldest of each account, for `leaseSeconds`. It also returns attempts that wait
 * for an earlier event of their task; they are due again when the earlier event is.
 */
export const takeFirstAttempts = async (
  sql: Sql,
  { limit, perAccount, leased, fullHosts, after, leaseSeconds }: TakeOptions,
): Promise<TakenAttempts> => {
  const rows = await sql<
    (FirstAttempt & { next: string; isEmpty: boolean; withoutSync: string })[]
  >`
  with recursive
  -- one probe of the index for each account
  account_of (account, place) as (
    (select account, 1 from first_attempt where account > ${after} order by account limit 1)
    union all
    select next.account, a.place + 1
    from account_of a
    cross join lateral (
      select account from first_attempt where account > a.account order by account limit 1
    ) next
    where a.place < ${ACCOUNTS}
  ),
  leased as (
    select * from unnest(${[...leased.keys()]}::text[], ${[...leased.values()]}::integer[]) as leased (account, count)
  ),
  due as (
    select f.event_id, f.task_id, f.sequence
    from account_of a
    left join leased h on h.account = a.account
    cross join lateral (
      select event_id, task_id, sequence
      from first_attempt
      where account = a.account and due_at <= now() and host <> all(${[...fullHosts]}::text[])
        and not ${isHostPaused(sql, sql`host`)}
      order by due_at
      limit greatest(0, ${perAccount} - coalesce(h.count, 0))
      for update skip locked
    ) f
    limit ${limit}
  ),
  checked as (
    select d.event_id, b.failures as before_failures, b.next_attempt_at as before_at,
      b.failures >= ${attemptsWhenOvertaken(sql, sql`b.endpoint_id`)} as overtakes
    from due d
    left join lateral (
      select failures, next_attempt_at, endpoint_id
      from event
      where task_id = d.task_id and state = 'pending' and sequence < d.sequence
      order by sequence
      limit 1
    ) b on true
  ),
  taken as (
    update first_attempt f
    set due_at = case
      when c.before_failures is null then now() + make_interval(secs => ${leaseSeconds}::float8)
      when c.before_failures = 0 then now() + make_interval(secs => ${BLOCKED_SECONDS}::float8)
      else greatest(now(), c.before_at) + (5 + 25 * random()) * interval '1 second'
    end
    from checked c
    where f.event_id = c.event_id
    returning f.event_id, f.account, f.host, c.before_failures, c.overtakes
  )
  select e.id as "eventId", e.sequence, e.status, e.task_id as "taskId", e.family, e.kind, e.owner,
    coalesce(e.url, '') as url, e.endpoint, f.account, f.host,
    f.before_failures is not null as "isBlocked", 
    coalesce(f.overtakes, false) as overtakes,
    (select number from attempt
      where event_id = e.id and redelivery_id is null and duration_ms is null and error_class is null
      order by number limit 1) as "lostNumber",
    seen.next, seen."isEmpty", ${withoutSync(sql)}
  from (
    select case when count(*) = ${ACCOUNTS} then max(account) else '' end as next,
      count(*) = 0 and ${after} = '' as "isEmpty"
    from account_of
  ) seen
  left join (
    taken f
    join event_webhook e on e.id = f.event_id
  ) on true
  order by f.account, e.task_id, e.sequence
  `
  const attempts = rows.flatMap(({ next: _next, isEmpty: _isEmpty, withoutSync: _sync, ...one }) =>
    one.eventId === null ? [] : [one],
  )
  const next = attempts.length < limit ? rows[0]?.next : attempts.at(-1)?.account
  return { attempts, after: next ?? '', isEmpty: rows[0]?.isEmpty ?? false }
}

/**
 * Makes leased attempts due so many seconds from now: later, to keep them; or at once, to give them back. It
 * waits for nobody: who has locked a row ends it, many at once and in another order, and the two would end in a
 * deadlock.
 */
export const holdFirstAttempts = async (
  sql: Queryable,
  attempts: readonly { eventId: string; seconds: number }[],
): Promise<void> => {
  if (attempts.length === 0) return
  await sql`
    update first_attempt f set due_at = now() + h.milliseconds * interval '1 millisecond'
    from unnest(${attempts.map(({ eventId }) => eventId)}::uuid[],
      ${attempts.map(({ seconds }) => Math.round(seconds * 1000))}::integer[]) as h (event_id, milliseconds)
    where f.event_id = h.event_id and f.event_id in (
      select event_id from first_attempt
      where event_id = any(${attempts.map(({ eventId }) => eventId)}::uuid[])
      for update skip locked
    )
    returning ${withoutSync(sql)}
  `
}

/** Attempts that one call defers. */
const DEFERRED_AT_ONCE = 5000

/**
 * Defers the attempts of hosts that take nothing or are paused, for 5 to 30 s but not beyond the end of the pause, so that they
 * are not in the way of others. `endPause` makes them due.
 */
export const deferHosts = async (sql: Sql, hosts: readonly string[]): Promise<void> => {
  await sql`
    update first_attempt set due_at = least(now() + (5 + 25 * random()) * interval '1 second',
      (select until from pause where scope = 'host:' || host and ${isActive(sql)}))
    where event_id in (
      select event_id from first_attempt
      where host in (
          select unnest(${[...hosts]}::text[])
          union all select substring(scope from 6) from pause where scope like 'host:%' and ${isActive(sql)}
        ) and due_at <= now()
      limit ${DEFERRED_AT_ONCE}
      for update skip locked
    )
    returning ${withoutSync(sql)}
  `
}

/**
 * Writes attempts down before they are sent; returns their numbers by event. An event that has ended, that somebody else
 * sends, or whose host is paused, is absent.
 */
export const beginFirstAttempts = async (
  sql: Transaction,
  attempts: readonly { eventId: string; url: string }[],
): Promise<ReadonlyMap<string, number>> => {
  const begun = sql<{ eventId: string; number: number }[]>`
    -- the list in a select: of one that it sees PostgreSQL makes a plan each time
    with given as (
      select * from unnest((select ${attempts.map(({ eventId }) => eventId)}::uuid[]),
        ${attempts.map(({ url }) => withoutQuery(url))}::text[]) as given (event_id, url)
    ),
    -- the lock keeps two attempts from taking the same number; with the state here all pending events might be read
    locked as (
      select id, state, failures, endpoint_id from event
      where id in (select event_id from given)
      order by id
      for update
    )
    insert into attempt (event_id, number, url, header_names)
    select g.event_id, coalesce(last.number, 0) + 1, g.url,
      (select p.header_names from endpoint p where p.id = l.endpoint_id)
    from given g
    join locked l on l.id = g.event_id and l.state = 'pending' and l.failures = 0
      and not ${isHostPaused(sql, sql`host_of(g.url)`)}
    left join lateral (
      select max(number) as number, bool_or(redelivery_id is null) as "isAttempted"
      from attempt where event_id = g.event_id
    ) last on true
    where last."isAttempted" is not true
    returning event_id as "eventId", number
  `
  const [, rows] = await Promise.all([holdPauses(sql), begun])
  return new Map(rows.map(({ eventId, number }) => [eventId, number]))
}

/** Completes attempts that delivered their events, also those given up as lost meanwhile. */
export const completeFirstAttempts = async (
  sql: Transaction,
  delivered: readonly { key: AttemptKey; result: AttemptResult }[],
): Promise<void> => {
  // Trigger `event_leaves_first_attempt` (0069): a settled event leaves `first_attempt`, and those behind it become due.
  const column = <T>(read: (row: (typeof delivered)[number]) => T): T[] => delivered.map(read)
  await sql`
    -- the list in a select: as above
    with done as (
      select * from unnest(
        (select ${column(({ key }) => key.eventId)}::uuid[]),
        ${column(({ key }) => key.number)}::integer[],
        ${column(({ result }) => Math.round(result.durationMs))}::integer[],
        ${column(({ result }) => result.address ?? null)}::text[],
        ${column(({ result }) => result.status ?? null)}::integer[],
        ${column(({ result }) => result.answer ?? null)}::text[]
      ) as done (event_id, number, duration_ms, address, status, answer)
    ),
    completed as (
      update attempt a
      set duration_ms = d.duration_ms, address = d.address, status = d.status, answer = d.answer, error_class = null
      from done d
      where a.event_id = d.event_id and a.number = d.number and a.duration_ms is null
    ),
    settled as (
      update event set state = 'delivered', next_attempt_at = null
      where id in (select event_id from done) and state <> 'delivered'
      returning endpoint_id
    )
    update endpoint set failing_since = null
    where id in (select endpoint_id from settled) and failing_since is not null
  `
}

/** Events that wait for a first attempt, for operators. */
export interface Backlog {
  /** Up to 10,000. */
  waiting: number
  /** Seconds since the oldest of them was recorded; 0 without any. */
  oldestSeconds: number
}

export const measureBacklog = async (sql: Sql): Promise<Backlog> => {
  const [row] = await sql<Backlog[]>`
    select count(*)::integer as waiting,
      coalesce(round(extract(epoch from now() - min(e.created_at)))::integer, 0) as "oldestSeconds"
    from (select event_id from first_attempt limit 10000) f
    join event e on e.id = f.event_id
  `
  return row ?? { waiting: 0, oldestSeconds: 0 }
}
