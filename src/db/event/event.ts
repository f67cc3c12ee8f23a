import type { Transaction } from '../client.ts'

export interface NewEvent {
  taskId: string
  sequence: number
  status: string
  deliver: boolean
}

/**
 * Writes the event of a move, in the move's own transaction and with the move's time, which never goes back even when
 * the server's clock does. `unique (task_id, sequence)` refuses a second event.
 */
export const insertEvent = async (sql: Transaction, event: NewEvent): Promise<void> => {
  const { count } = await sql`
    insert into event (task_id, sequence, status, deliver, created_at)
    select id, ${event.sequence}::integer, ${event.status}, ${event.deliver}::boolean, last_moved_at
    from task
    where id = ${event.taskId}
  `
  if (count !== 1) throw new Error(`event ${event.sequence} of a task that is not there`)
}
