import type { Sql } from '../client.ts'
import { mayRead } from '../event/event-log.ts'
import { taskColumns } from './task-list.ts'
import type { TaskRow } from './task-list.ts'

/** A file of a task, as its row tells of it. */
interface FileRow {
  name: string
  bytes: number | null
  width: number | null
  height: number | null
  content_type: string | null
}

/** All that is kept of a task. */
export interface TaskDetailRow extends TaskRow {
  settings: Record<string, unknown>
  webhookUrl: string | null
  purgedAt: Date | null
  fence: number
  inputs: (Omit<FileRow, 'name'> & { field: string; name: string | null; url: string | null })[]
  results: FileRow[]
  moves: { event_id: string; sequence: number; status: string; state: string; at: string }[]
  tries: { n: number; at: string; failed_at?: string; error?: string }[]
}

/** A task that the caller may read; an admin may read every one. Undefined when there is no such task. */
export const findTaskDetail = async (
  sql: Sql,
  { id, owner, isAdmin }: { id: string; owner: string; isAdmin: boolean },
): Promise<TaskDetailRow | undefined> => {
  const [row] = await sql<TaskDetailRow[]>`
    select ${taskColumns(sql)}, t.settings, t.webhook_url as "webhookUrl", t.purged_at as "purgedAt",
      t.fence, t.tries,
      (select coalesce(jsonb_agg(to_jsonb(i)), '[]') from (
        select field, name, url, content_type, bytes, width, height from task_input
        where task_id = t.id order by field
      ) i) as inputs,
      (select coalesce(jsonb_agg(to_jsonb(r)), '[]') from (
        select name, content_type, bytes, width, height from task_result
        where task_id = t.id order by position
      ) r) as results,
      (select jsonb_agg(jsonb_build_object('event_id', e.id, 'sequence', e.sequence,
          'status', e.status, 'at', e.created_at, 'state', task_state(e.status,
            case when e.sequence = t.last_sequence then t.error_code end)) order by e.sequence)
        from event e where e.task_id = t.id) as moves
    from task t
    where t.id = ${id} and (${mayRead(sql, owner)} or ${isAdmin})
  `
  return row
}
