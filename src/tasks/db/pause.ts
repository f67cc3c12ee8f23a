import type { Pause, PauseEffect } from '../domain/pause.ts'
import type { Fragment, Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'

/** The condition that a pause counts now: the clock of the database ends it. */
export const isActive = (sql: Queryable) => sql`coalesce(until > clock_timestamp(), true)`

/** All scopes that are paused now, which a statement reads once. */
const pausedScopes = (sql: Queryable) => sql`array(select scope from pause where ${isActive(sql)})`

/** Scopes that a task is of; `task` is its alias. */
export const scopesOf = (sql: Queryable, task: Fragment) =>
  sql`task_scopes(${task}.engine, ${task}.family, ${task}.kind, ${task}.owner)`

export const isPaused = (sql: Queryable, task: Fragment = sql`task`) =>
  sql`(${scopesOf(sql, task)} && ${pausedScopes(sql)})`

/** The condition that deliveries to a host are paused. */
export const isHostPaused = (sql: Queryable, host: Fragment) =>
  sql`('host:' || ${host} = any(${pausedScopes(sql)}))`

/** The lock of all that begins and of pauses; the number is arbitrary and ours. */
const LOCK = 7_041_979

/** Keeps pauses as they are until the commit. Sent before the statement that begins something, so that this one sees them. */
export const holdPauses = async (sql: Transaction): Promise<void> => {
  // Sent at once: the caller sends the statement behind it without waiting.
  await sql`select pg_advisory_xact_lock_shared(${LOCK})`.execute()
}

/** Waits for what is beginning; until the commit nothing else begins. So nothing does after the response to a pause. */
const lockPauses = async (sql: Transaction): Promise<void> => {
  await sql`select pg_advisory_xact_lock(${LOCK})`
}

export interface NewPause {
  scope: string
  reason: string | undefined
  until: Date | undefined
  by: string
}

const columns = (sql: Queryable) => sql`
  scope, reason, paused_by, ${instant(sql, sql`paused_at`)} as paused_at, ${instant(sql, sql`until`)} as until
`

/** Pauses a scope, or changes its pause. Returns it as it was and as it is; nothing for an end that has passed. */
export const putPause = async (
  sql: Transaction,
  { scope, reason, until, by }: NewPause,
): Promise<{ before: Pause | undefined; after: Pause | undefined }> => {
  await lockPauses(sql)
  const before = await findPause(sql, scope)
  const [after] = await sql<PauseRow[]>`
    insert into pause as p (scope, reason, paused_by, until)
    select ${scope}, ${reason ?? null}, ${by}, until
    from (select ${until ?? null}::timestamptz as until) given
    where ${isActive(sql)}
    on conflict (scope) do update set reason = excluded.reason, until = excluded.until,
      paused_by = excluded.paused_by,
      paused_at = case when coalesce(p.until > clock_timestamp(), true)
        then p.paused_at else excluded.paused_at end
    returning ${columns(sql)}
  `
  if (until) await endDeferrals(sql, scope, until)
  return { before, after: after && toPause(after) }
}

const findPause = async (sql: Queryable, scope: string): Promise<Pause | undefined> => {
  const [row] = await sql<PauseRow[]>`
    select ${columns(sql)} from pause where scope = ${scope} and ${isActive(sql)}
  `
  return row && toPause(row)
}

/** Ends a pause and closes the breaker of a scope. Returns what it was; undefined when neither was there. */
export const endPause = async (sql: Transaction, scope: string): Promise<Pause | undefined> => {
  await lockPauses(sql)
  const before = (await listPauses(sql)).find((pause) => pause.scope === scope)
  await sql`
    update pause set until = clock_timestamp() where scope = ${scope} and ${isActive(sql)}
  `
  await endDeferrals(sql, scope, new Date(0))
  await sql`
    update breaker set failures = 0, opened_at = null, retry_at = null, probe_id = null
    where scope = ${scope} and opened_at is not null
  `
  return before
}

/** First attempts that one call makes due; the others are deferred for half a minute at most. */
const DUE_AT_ONCE = 5000

/**
 * Makes the deferred first attempts at webhooks of a paused host due at a time, at once where it has passed. One that was
 * begun is left to its worker. Like `holdFirstAttempts` it waits for nobody.
 */
const endDeferrals = async (sql: Transaction, scope: string, at: Date): Promise<void> => {
  if (!scope.startsWith('host:')) return
  await sql`
    update first_attempt set due_at = greatest(${at}, now())
    where event_id in (
      select event_id from first_attempt f
      where host = ${scope.slice('host:'.length)} and due_at > greatest(${at}, now())
        and not exists (
          select from attempt a
          where a.event_id = f.event_id and a.redelivery_id is null
            and a.duration_ms is null and a.error_class is null
        )
      order by due_at
      limit ${DUE_AT_ONCE}
      for update skip locked
    )
  `
}

interface PauseRow {
  scope: string
  reason: string | null
  paused_by: string | null
  paused_at: string
  until: string | null
  breaker?: 'open' | 'half_open' | null
}

const toPause = (row: PauseRow): Pause =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Pause

/** Lists what is paused now, and the engines whose breaker is open. */
export const listPauses = async (sql: Queryable): Promise<Pause[]> => {
  const rows = await sql<PauseRow[]>`
    select ${columns(sql)}, null as breaker from pause where ${isActive(sql)}
    union all
    select scope, null, null, ${instant(sql, sql`opened_at`)}, null,
      case when retry_at > clock_timestamp() then 'open' else 'half_open' end
    from breaker where opened_at is not null
    order by 4, 1
  `
  return rows.map(toPause)
}

/** Counts what a pause of a scope holds, or would hold. */
export const countPauseEffect = async (sql: Sql, scope: string): Promise<PauseEffect> => {
  const [effect] = await sql<PauseEffect[]>`
    with waiting as (
      select id from event where state = 'pending'
      union all select event_id from redelivery where state = 'pending'
    ), affected as (
      select owner, 1 as tasks, 0 as events from task
      where ended_at is null and status not in ('IN_PROGRESS', 'processing')
        and ${scope} = any(${scopesOf(sql, sql`task`)})
      union all
      select t.owner, 0, 1 from waiting w join event_webhook t on t.id = w.id
      where ${scope} like 'host:%' and 'host:' || host_of(t.url) = ${scope}
    )
    select count(*) filter (where tasks = 1)::integer as tasks,
      count(*) filter (where events = 1)::integer as events,
      count(distinct owner)::integer as owners
    from affected
  `
  return effect ?? { tasks: 0, events: 0, owners: 0 }
}

export const deleteEndedPauses = async (sql: Sql): Promise<boolean> => {
  const { count } = await sql`delete from pause where not ${isActive(sql)}`
  return count > 0
}
