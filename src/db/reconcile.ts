import type { Sql } from './client.ts'

/** Reconcile runs in one process at a time; the number is arbitrary and ours. */
const LOCK = 7_041_978

/** Runs `work` unless another process holds the lock. The lock is of the connection, so a dead process frees it. */
export const withReconcileLock = async (sql: Sql, work: () => Promise<void>): Promise<void> => {
  const connection = await sql.reserve()
  try {
    const [lock] = await connection<
      { held: boolean }[]
    >`select pg_try_advisory_lock(${LOCK}) as held`
    if (!lock?.held) return
    try {
      await work()
    } finally {
      await connection`select pg_advisory_unlock(${LOCK})`
    }
  } finally {
    connection.release()
  }
}

export interface StillTask {
  id: string
  kind: string
  owner: string
  workflowId: string
}

/** Open tasks that have not moved for so long although their workflow was started, oldest first, after a given one. */
export const listStillTasks = async (
  sql: Sql,
  { afterSeconds, after, limit }: { afterSeconds: number; after: string; limit: number },
): Promise<StillTask[]> =>
  await sql`
  select t.id, t.kind, t.owner, o.workflow_id as "workflowId"
  from task t
  join outbox o on o.workflow_id = t.family || '-task/' || t.id and o.kind <> 'signal'
  where t.ended_at is null
    and t.last_moved_at < clock_timestamp() - make_interval(secs => ${afterSeconds})
    and t.id > ${after}
  group by t.id, o.workflow_id
  having bool_and(o.dispatched_at is not null)
  order by t.id
  limit ${limit}
`
