import type { Transaction } from '../../../platform/db/client.ts'

/** A finished video: its length in seconds, frames a second, and size in pixels. */
export interface NewCreation {
  /** File among the results. */
  name: string
  seconds: number
  fps: number
  width: number
  height: number
}

/** Records the video of a task, in the transaction of its move to success. */
export const insertCreation = async (
  sql: Transaction,
  taskId: string,
  { name, seconds, fps, width, height }: NewCreation,
): Promise<void> => {
  await sql`
    insert into creation (task_id, name, seconds, fps, width, height)
    values (${taskId}, ${name}, ${seconds}, ${fps}, ${width}, ${height})
  `
}
