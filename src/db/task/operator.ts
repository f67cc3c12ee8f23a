import { isUuid } from '../../domain/shared/uuid.ts'
import type { StuckTask } from '../../domain/task/operations.ts'
import type { Queryable, Sql } from '../client.ts'
import { instant } from '../shared/instant.ts'
import { hasDeadlines, type StillTask } from './reconcile.ts'
import { isPaused } from './pause.ts'
import { waitsForSlot } from '../video-task/video-queue.ts'

export interface OpenTask extends StillTask {
  status: string
  ended: boolean
}

/** A task of any owner, for operators. */
export const findTask = async (sql: Queryable, id: string): Promise<OpenTask | undefined> => {
  if (!isUuid(id)) return undefined
  const [row] = await sql<OpenTask[]>`
    select id, family, kind, owner, coalesce(account, owner) as account, off_peak as "offPeak", engine,
      priority, ${hasDeadlines(sql)}, status, ended_at is not null as ended
    from task where id = ${id}
  `
  return row
}

/** Without a move for so long a task or version counts as stuck. */
export const STUCK_SECONDS = 600

/** Open tasks that have not moved for 10 minutes, longest first, except those that rightly wait for a slot or are paused. */
export const listStuckTasks = async (sql: Sql): Promise<StuckTask[]> =>
  await sql`
  select id, family, kind, owner, status, ${instant(sql, sql`last_moved_at`)} as since
  from task t
  where ended_at is null and last_moved_at < now() - make_interval(secs => ${STUCK_SECONDS})
    and not ${waitsForSlot(sql)} and not ${isPaused(sql, sql`t`)}
  order by last_moved_at
  limit 100
`
