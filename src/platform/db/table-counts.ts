import type { Sql } from './client.ts'

/** Work that waits, as the database counts it. Ages are seconds; no more than 10,000 of a kind are counted. */
export interface TableCounts {
  outbox: { rows: number; age: number }
  /** The open tasks that have not moved for longest, by family and state. */
  tasks: { family: string; state: string; count: number; age: number }[]
}

export const readTableCounts = async (sql: Sql): Promise<TableCounts> => {
  const [row] = await sql<TableCounts[]>`
    with waiting as (
      select created_at from outbox where dispatched_at is null order by id limit ${COUNTED}
    ), open as (
      select family, status, waits_on, greatest(last_moved_at, start_after) as last_moved_at
      from task where ended_at is null order by last_moved_at limit ${COUNTED}
    )
    select
      (select json_build_object('rows', count(*),
        'age', coalesce(extract(epoch from now() - min(created_at)), 0)) from waiting) as outbox,
      (select coalesce(json_agg(t), '[]') from (
        select family, current_state(status, null, waits_on) as state, count(*) as count,
          greatest(0, extract(epoch from now() - min(last_moved_at))) as age
        from open group by 1, 2
      ) t) as tasks
  `
  if (!row) throw new Error('a statement without a table returned no row')
  return row
}

const COUNTED = 10_000

/** An end of a task, and the seconds from its creation. */
export interface EndedTask {
  kind: string
  end: string
  seconds: number
  at: string
}

/**
 * Lists tasks that have ended since a time, in the order of their ends. It goes back ten minutes at most, and leaves
 * out the last two seconds, whose transactions may be under way.
 */
export const listEndedTasks = async (sql: Sql, since: string): Promise<EndedTask[]> =>
  await sql`
  select kind, task_state(status, error_code) as "end",
    extract(epoch from ended_at - greatest(created_at, start_after))::float8 as seconds, ended_at::text as at
  from task
  where ended_at > greatest(${since}::text::timestamptz, now() - interval '10 minutes')
    and ended_at < now() - interval '2 seconds' and purged_at is null
  order by ended_at
  limit ${COUNTED}
`
