import type { Sql } from '../client.ts'

/** A deadline that a caller may set for a task: to begin, or to end. */
export type DeadlineName = 'start' | 'end'

/** A task that is held is read again after this time at the least, because its deadline stands still. */
const HELD_SECONDS = 5

/** Milliseconds that an open task has until a deadline of its caller, 0 once it has passed; null: it has none, or has met it. */
export const findDeadline = async (
  sql: Sql,
  { id, until }: { id: string; until: DeadlineName },
): Promise<number | null> => {
  const isStart = until === 'start'
  const [row] = await sql<{ seconds: number | null; isHeld: boolean }[]>`
    select held_at is not null as "isHeld", extract(epoch from created_at
      - coalesce(held_at, clock_timestamp())
      + make_interval(secs => held_seconds
        + case when ${isStart}::boolean then start_within else end_within end))::float8 as seconds
    from task
    where id = ${id} and ended_at is null and (claimed_at is null or not ${isStart}::boolean)
  `
  if (row?.seconds == null) return null
  return Math.max(0, Math.ceil(Math.max(row.seconds, row.isHeld ? HELD_SECONDS : 0) * 1000))
}
