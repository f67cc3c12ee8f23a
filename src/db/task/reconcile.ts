import type { EngineName } from '../../domain/task/engine.ts'
import type { Fragment, Queryable, Sql } from '../client.ts'

/** Reconcile runs in one process at a time; the number is arbitrary and ours. */
const LOCK = 7_041_978

/**
 * Runs `work` unless another process holds the lock. The lock belongs to the session, so a dead process frees it; `sql`
 * must be a pool of one connection, which is that session. If the connection breaks, a second process may begin beside
 * this one. That does no harm: each step is conditional.
 */
export const withReconcileLock = async (sql: Sql, work: () => Promise<void>): Promise<void> => {
  const [lock] = await sql<{ held: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as held`
  if (!lock?.held) return
  try {
    await work()
  } finally {
    await sql`select pg_advisory_unlock(${LOCK})`
  }
}

/** Options of a list of what stands still. */
export interface StillOptions {
  afterSeconds: number
  /** Those after the id that the batch before ended with, or one. */
  ids: { after: string } | { only: string }
  limit: number
}

/** The condition that a column is one of these ids. */
export const isAmong = (sql: Sql, column: Fragment, ids: StillOptions['ids']): Fragment =>
  'only' in ids ? sql`${column} = ${ids.only}` : sql`${column} > ${ids.after}`

/** The column of that name of a `StillTask`. */
export const hasDeadlines = (sql: Queryable): Fragment =>
  sql`coalesce(start_within, end_within) is not null as "hasDeadlines"`

/** A task of either family, as reconcile and the operator see it. */
export interface StillTask {
  id: string
  family: 'image' | 'video'
  kind: string
  owner: string
  /** Whom it counts for. */
  account: string
  offPeak: boolean
  engine: EngineName
  /** Order among those of its account that wait. */
  priority: number
  /** Its caller has set some. */
  hasDeadlines: boolean
}

/**
 * Open tasks that have not moved for `afterSeconds` although nothing of theirs waits for the relay, in the order of
 * their ids. Dispatched rows are removed by age, so their absence means nothing.
 */
export const listStillTasks = async (
  sql: Sql,
  { afterSeconds, ids, limit }: StillOptions,
): Promise<StillTask[]> =>
  await sql`
  select t.id, t.family, t.kind, t.owner, coalesce(t.account, t.owner) as account, t.off_peak as "offPeak", t.engine,
    t.priority, ${hasDeadlines(sql)}
  from task t
  where t.ended_at is null
    and t.last_moved_at < now() - make_interval(secs => ${afterSeconds})
    and ${isAmong(sql, sql`t.id`, ids)}
    and not exists (
      select from outbox o
      where o.workflow_id = t.family || '-task/' || t.id and o.kind <> 'signal' and o.dispatched_at is null
    )
  order by t.id
  limit ${limit}
`
