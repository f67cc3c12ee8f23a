import { ANONYMOUS } from '../../platform/domain/account.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { isPaused, scopesOf } from './pause.ts'

/**
 * Makes a task that waits for a half-open breaker the one that tries, where none does; returns its owner and family. A video
 * is one that has a slot or for which one is free. The caller admits it in the same transaction.
 */
export const chooseProbe = async (
  sql: Transaction,
  { slots, anonymousSlots = slots }: { slots: number; anonymousSlots?: number | undefined },
): Promise<ProbeTask | undefined> => {
  const [probe] = await sql<ProbeTask[]>`
    with half_open as (
      select scope from breaker b
      where opened_at is not null and retry_at <= clock_timestamp() and not exists (
        select from task where id = b.probe_id and ended_at is null and waits_on is null
      )
      for update skip locked
    ), probe as (
      select t.id, t.owner, t.family, half_open.scope
      from half_open, task t
      where family = any(array['image', 'video']) and engine = split_part(half_open.scope, ':', 2)
        and waits_on = 'breaker:' || half_open.scope and ended_at is null and not ${isPaused(sql, sql`t`)}
        and (family = 'image' or admitted_at is not null or (
          select count(*) from task o
          where o.owner = t.owner and o.family = 'video' and o.ended_at is null and o.admitted_at is not null
        ) < case when t.owner = ${ANONYMOUS} then ${anonymousSlots}::bigint
            else coalesce((select slots from owner where id = t.owner), ${slots}::integer) end)
      order by priority desc, created_at, id
      limit 1
    )
    update breaker b set probe_id = probe.id from probe where b.scope = probe.scope
    returning probe.id, probe.owner, probe.family
  `
  return probe
}

/** The one task that tries whether an engine works again. */
export interface ProbeTask {
  id: string
  owner: string
  family: TaskFamily
}

/** Lets another task try, when this one has ended without having asked the engine. */
export const releaseProbe = async (sql: Sql, id: string): Promise<void> => {
  await sql`update breaker set probe_id = null where probe_id = ${id}`
}

/** The condition that a breaker keeps `task` waiting: it is open, and another task tries or none yet. */
export const isBroken = (sql: Queryable) => sql`
  exists (
    select from breaker b
    where b.scope = any(${scopesOf(sql, sql`task`)}) and b.opened_at is not null
      and b.probe_id is distinct from task.id
  )
`

/** Finds in how many milliseconds an open breaker is to be tried, or a pause ends; null where neither is to come. */
export const findNextEndMs = async (sql: Sql): Promise<number | null> => {
  const [row] = await sql<{ ms: number | null }[]>`
    select (extract(epoch from min(at) - clock_timestamp()) * 1000)::float8 as ms
    from (
      select retry_at as at from breaker where opened_at is not null
      union all select until from pause
    ) ends
    where at > clock_timestamp()
  `
  return row?.ms ?? null
}

export interface BreakerFailure {
  scope: string
  taskId: string
  /** Failures in a row that open it. */
  max: number
  /** Time until a task may try again. */
  openSeconds: number
}

/** Counts a failure of an engine. Returns whether its breaker is open now, and whether this has opened it. */
export const countEngineFailure = async (
  sql: Sql,
  { scope, taskId, max, openSeconds }: BreakerFailure,
): Promise<{ isOpen: boolean; hasOpened: boolean }> => {
  const retryAt = sql`clock_timestamp() + ${openSeconds}::float8 * interval '1 second'`
  // Trigger `breaker_inserted_platform_event` or `breaker_platform_event` (0069): records an event for the platform's
  // endpoints when it opens; the latter also when it closes.
  const [row] = await sql<{ isOpen: boolean; failures: number }[]>`
    insert into breaker as b (scope, failures, opened_at, retry_at)
    values (${scope}, 1, case when ${max} <= 1 then clock_timestamp() end,
      case when ${max} <= 1 then ${retryAt} end)
    on conflict (scope) do update set
      failures = b.failures + 1,
      opened_at = case when b.failures + 1 >= ${max} then coalesce(b.opened_at, clock_timestamp()) end,
      retry_at = case
        when b.opened_at is null and b.failures + 1 >= ${max} or b.probe_id = ${taskId} then ${retryAt}
        else b.retry_at end,
      probe_id = nullif(b.probe_id, ${taskId})
    returning opened_at is not null as "isOpen", failures
  `
  return { isOpen: row?.isOpen === true, hasOpened: row?.failures === Math.max(1, max) }
}

/** Ends the row of failures of an engine. Returns whether that has closed its breaker. */
export const countEngineSuccess = async (
  sql: Sql,
  { scope, onlyOpen }: { scope: string; onlyOpen: boolean },
): Promise<boolean> => {
  const [row] = await sql<{ wasOpen: boolean }[]>`
    update breaker b
    set failures = 0, opened_at = null, retry_at = null, probe_id = null
    from (select scope, opened_at from breaker where scope = ${scope} for update) old
    where b.scope = old.scope and b.failures > 0 and (not ${onlyOpen} or b.opened_at is not null)
    returning old.opened_at is not null as "wasOpen"
  `
  return row?.wasOpen === true
}

/** Lists the engines that have ever failed, and whether their breaker is open. */
export const listBreakers = async (sql: Sql): Promise<{ scope: string; isOpen: boolean }[]> =>
  await sql`select scope, opened_at is not null as "isOpen" from breaker order by scope`
