import type { Sql } from '../client.ts'

/** A deadline that a caller may set for a task: to begin, or to end. */
export type DeadlineName = 'start' | 'end'

/** Milliseconds that an open task has until a deadline of its caller, 0 once it has passed; null: it has none, or has met it. */
export const findDeadline = async (
  sql: Sql,
  { id, until }: { id: string; until: DeadlineName },
): Promise<number | null> => {
  const isStart = until === 'start'
  const seconds = isStart ? sql`start_within` : sql`end_within`
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from created_at + make_interval(secs => ${seconds}) - clock_timestamp())::float8
      as seconds
    from task
    where id = ${id} and ended_at is null and ${seconds} is not null
      ${isStart ? sql`and claimed_at is null` : sql``}
  `
  return row ? Math.max(0, Math.ceil(row.seconds * 1000)) : null
}
