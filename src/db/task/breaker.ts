import type { Queryable, Sql, Transaction } from '../client.ts'

/** Scopes of the breakers of `task`: that of its engine, and that of its family there. */
const scopesOf = (sql: Queryable) =>
  sql`('engine:' || task.engine, 'engine:' || task.engine || ':' || task.family)`

/** Time that the one task of a half-open breaker has, to fetch its inputs and ask, before another one may try. */
const PROBE_SECONDS = 60

/**
 * Makes a task the one that tries, where the breaker of its engine is half-open. Others at once wait, and find it taken.
 * Returns whether it is the one.
 */
export const takeProbe = async (sql: Transaction, id: string): Promise<boolean> => {
  const { count } = await sql`
    update breaker b
    set probe_id = ${id}, probe_until = clock_timestamp() + ${PROBE_SECONDS} * interval '1 second'
    from task
    where task.id = ${id} and b.scope in ${scopesOf(sql)} and b.opened_at is not null
      and b.retry_at <= clock_timestamp() and coalesce(b.probe_until < clock_timestamp(), true)
  `.execute()
  return count > 0
}

/** Lets another task try, when this one has ended without having asked the engine. */
export const releaseProbe = async (sql: Sql, id: string): Promise<void> => {
  await sql`update breaker set probe_id = null, probe_until = null where probe_id = ${id}`
}

/** The condition that a breaker holds `task`: it is open, and another task tries or none yet. */
export const isBroken = (sql: Queryable, id: string) => sql`
  exists (
    select from breaker b
    where b.scope in ${scopesOf(sql)} and b.opened_at is not null
      and b.probe_id is distinct from ${id}::uuid
  )
`

export interface BreakerFailure {
  scope: string
  taskId: string
  /** Failures in a row that open it. */
  most: number
  /** Time until a task may try again. */
  openSeconds: number
}

/** Counts a failure of an engine. Returns whether its breaker is open now, and whether this has opened it. */
export const countEngineFailure = async (
  sql: Sql,
  { scope, taskId, most, openSeconds }: BreakerFailure,
): Promise<{ isOpen: boolean; hasOpened: boolean }> => {
  const retryAt = sql`clock_timestamp() + ${openSeconds}::float8 * interval '1 second'`
  // Trigger `breaker_inserted_told_platform` or `breaker_told_platform` (0052): records an event for the platform's
  // endpoints when it opens; the latter also when it closes.
  const [row] = await sql<{ isOpen: boolean; failures: number }[]>`
    insert into breaker as b (scope, failures, opened_at, retry_at)
    values (${scope}, 1, case when ${most} <= 1 then clock_timestamp() end,
      case when ${most} <= 1 then ${retryAt} end)
    on conflict (scope) do update set
      failures = b.failures + 1,
      opened_at = case when b.failures + 1 >= ${most} then coalesce(b.opened_at, clock_timestamp()) end,
      retry_at = case
        when b.opened_at is null and b.failures + 1 >= ${most} or b.probe_id = ${taskId} then ${retryAt}
        else b.retry_at end,
      probe_until = case when b.probe_id = ${taskId} then null else b.probe_until end,
      probe_id = nullif(b.probe_id, ${taskId})
    returning opened_at is not null as "isOpen", failures
  `
  return { isOpen: row?.isOpen === true, hasOpened: row?.failures === Math.max(1, most) }
}

/** Ends the row of failures of an engine. Returns whether that has closed its breaker. */
export const countEngineSuccess = async (
  sql: Sql,
  { scope, onlyOpen }: { scope: string; onlyOpen: boolean },
): Promise<boolean> => {
  const [row] = await sql<{ wasOpen: boolean }[]>`
    update breaker b
    set failures = 0, opened_at = null, retry_at = null, probe_id = null, probe_until = null
    from (select scope, opened_at from breaker where scope = ${scope} for update) old
    where b.scope = old.scope and b.failures > 0 and (not ${onlyOpen} or b.opened_at is not null)
    returning old.opened_at is not null as "wasOpen"
  `
  return row?.wasOpen === true
}

/** Lists the engines that have ever failed, and whether their breaker is open. */
export const listBreakers = async (sql: Sql): Promise<{ scope: string; isOpen: boolean }[]> =>
  await sql`select scope, opened_at is not null as "isOpen" from breaker order by scope`
