import { isUuid } from '../../platform/domain/uuid.ts'
import type { StuckTask } from '../domain/operations.ts'
import type { Queryable, Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { isAmong, type StalledOptions } from '../../platform/db/reconcile.ts'
import { startColumns, type TaskToStart } from './admission.ts'

export interface OpenTask extends TaskToStart {
  status: string
  /** Why it may not begin; null of an admitted one. */
  waitsOn: string | null
  ended: boolean
}

/** A task of any owner, for operators. */
export const findTask = async (sql: Queryable, id: string): Promise<OpenTask | undefined> => {
  if (!isUuid(id)) return undefined
  const [row] = await sql<OpenTask[]>`
    select ${startColumns(sql)}, status, waits_on as "waitsOn", ended_at is not null as ended
    from task t where id = ${id}
  `
  return row
}

/** Without a move for so long a task or version counts as stuck. */
export const STUCK_SECONDS = 600

/** Lists admitted tasks that have not moved for 10 minutes, longest first. It leaves out tasks that wait rightly. */
export const listStuckTasks = async (sql: Sql): Promise<StuckTask[]> =>
  await sql`
  select id, family, kind, owner, status, ${instant(sql, sql`last_moved_at`)} as since
  from task
  where ended_at is null and last_moved_at < now() - make_interval(secs => ${STUCK_SECONDS})
    and waits_on is null
  order by last_moved_at
  limit 100
`

/**
 * Admitted tasks that have not moved for `afterSeconds` although nothing of theirs waits for the relay, in the order of
 * their ids. Dispatched rows are removed by age, so their absence means nothing.
 */
export const listStalledTasks = async (
  sql: Sql,
  { afterSeconds, ids, limit }: StalledOptions,
): Promise<TaskToStart[]> =>
  await sql`
  select ${startColumns(sql)}
  from task t
  where t.ended_at is null and t.waits_on is null
    and t.last_moved_at < now() - make_interval(secs => ${afterSeconds})
    and ${isAmong(sql, sql`t.id`, ids)}
    and not exists (
      select from outbox o
      where o.workflow_id = t.family || '-task/' || t.id and o.kind <> 'signal' and o.dispatched_at is null
    )
  order by t.id
  limit ${limit}
`
