import type { Sql } from '../client.ts'
import { heldSince, isPaused } from './pause.ts'

/** A deadline that a caller may set for a task: to begin, or to end. */
export type DeadlineName = 'start' | 'end'

/** A task that is held is read again after this time at the least, because its deadline stands still. */
const HELD_SECONDS = 5

/** Milliseconds that an open task has until a deadline of its caller, 0 once it has passed; null: it has none, or has met it. */
export const findDeadline = async (
  sql: Sql,
  { id, until }: { id: string; until: DeadlineName },
): Promise<number | null> => {
  await holdPaused(sql, id)
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

/** Holds a task that is paused, also a video that nobody tries to begin because it waits for a slot; ends its hold later. */
const holdPaused = async (sql: Sql, id: string): Promise<void> => {
  const paused = isPaused(sql)
  await sql`
    update task
    set held_at = case when ${paused} then ${heldSince(sql)} end,
      held_seconds = held_seconds + case when ${paused} then 0
        else ceil(extract(epoch from clock_timestamp() - held_at))::integer end
    where id = ${id} and ended_at is null and claimed_at is null
      and (${paused} or (family = 'video' and admitted_at is null and held_at is not null))
  `
}
