import type { Transaction } from '../../../platform/db/client.ts'

/** A finished video: its length in seconds, frames a second, and size in pixels. */
export interface NewCreation {
  seconds: number
  fps: number
  width: number
  height: number
}

/** Records the video of a task, in the transaction of its move to success. */
export const insertCreation = async (
  sql: Transaction,
  taskId: string,
  { seconds, fps, width, height }: NewCreation,
): Promise<void> => {
  await sql`
    insert into creation (task_id, seconds, fps, width, height)
    values (${taskId}, ${seconds}, ${fps}, ${width}, ${height})
  `
}
