import type { Sql } from '../client.ts'

/** A deadline that a caller may set for a task: to begin, or to end. */
export type DeadlineName = 'start' | 'end'

/**
 * Milliseconds that an open task has until a deadline of its caller, 0 once it has passed; null: it has none, or has met
 * it. Whoever sets one wants nothing late, so it counts through pauses and outages, too.
 */
export const findDeadline = async (
  sql: Sql,
  { id, until }: { id: string; until: DeadlineName },
): Promise<number | null> => {
  const isStart = until === 'start'
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from created_at - clock_timestamp() + make_interval(
      secs => case when ${isStart}::boolean then start_within else end_within end
    ))::float8 as seconds
    from task
    where id = ${id} and ended_at is null and (claimed_at is null or not ${isStart}::boolean)
  `
  return row?.seconds == null ? null : Math.max(0, Math.ceil(row.seconds * 1000))
}
