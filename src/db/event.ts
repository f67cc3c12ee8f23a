import type { Transaction } from './client.ts'

export interface NewEvent {
  taskId: string
  sequence: number
  status: string
  deliver: boolean
}

/** Writes the event of a move, in the move's own transaction. `unique (task_id, sequence)` refuses a second one. */
export const insertEvent = async (sql: Transaction, event: NewEvent): Promise<void> => {
  await sql`
    insert into event (task_id, sequence, status, deliver)
    values (${event.taskId}, ${event.sequence}, ${event.status}, ${event.deliver})
  `
}
