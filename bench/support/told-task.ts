import { randomUUID } from 'node:crypto'

import type { Sql } from '../../src/db/client.ts'

/** Inserts a task as it is once it has ended, with its last event still to be told to an address. */
export const insertToldTask = async (sql: Sql, url: string): Promise<void> => {
  const taskId = randomUUID()
  await sql.begin(async (sql) => {
    await sql`
      insert into task (id, family, kind, segment, owner, status, settings, webhook_url, ended_at)
      values (${taskId}, 'image', 'upscale', 'image-upscaler', 'bench', 'COMPLETED', '{}', ${url},
        clock_timestamp())
    `
    await sql`
      insert into event (task_id, sequence, status, deliver, state)
      values (${taskId}, 1, 'COMPLETED', true, 'pending')
    `
  })
}
