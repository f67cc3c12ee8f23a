import { isUuid } from '../../domain/shared/uuid.ts'
import type { Sql } from '../client.ts'
import type { StillTask } from './reconcile.ts'
import { waitsForSlot } from '../video-task/video-queue.ts'

export interface OpenTask extends StillTask {
  status: string
  ended: boolean
}

/** A task of any owner, for operators. */
export const findTask = async (sql: Sql, id: string): Promise<OpenTask | undefined> => {
  if (!isUuid(id)) return undefined
  const [row] = await sql<OpenTask[]>`
    select id, family, kind, owner, coalesce(account, owner) as account, off_peak as "offPeak", status, ended_at is not null as ended
    from task where id = ${id}
  `
  return row
}

export interface StuckTask {
  id: string
  kind: string
  owner: string
  status: string
  since: string
}

/** Open tasks that have not moved for 10 minutes, longest first, except those that rightly wait for a slot. */
export const listStuckTasks = async (sql: Sql): Promise<StuckTask[]> =>
  await sql`
  select id, kind, owner, status, to_char(last_moved_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"') as since
  from task t
  where ended_at is null and last_moved_at < now() - interval '10 minutes'
    and not ${waitsForSlot(sql)}
  order by last_moved_at
  limit 100
`
