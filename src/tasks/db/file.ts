import { THUMBNAIL } from '../domain/thumbnail.ts'
import type { Queryable } from '../../platform/db/client.ts'
import { servedName } from './task-file.ts'

export interface FileRecord {
  /** Absent once the file was removed by age. */
  storage_key: string | null
  content_type: string | null
  /** Absent where nobody has counted them. */
  bytes: number | null
  sha256: string | null
  gone: boolean
  /** An upload: other bytes may come to have its name. */
  replaceable: boolean
  /** Kind of the task, of a result. */
  result_of: string | null
}

/**
 * Finds what a file link names: a result, its thumbnail or stored input of a task, or an upload that has arrived. The
 * rows of a task outlive its files: `gone` says that they were removed, by age or by their owner.
 */
export const findFile = async (
  sql: Queryable,
  { id, name }: { id: string; name: string },
): Promise<FileRecord | undefined> => {
  const [row] = await sql<FileRecord[]>`
    select
      file.storage_key, file.content_type, file.bytes::float8 as bytes, file.sha256,
      task.purged_at is not null or task.delete_requested_at is not null
        or coalesce(task.purge_at <= now(), false) as gone, false as replaceable,
      case when file.is_result then task.kind end as result_of
    from task
    join (
      select task_id, name, storage_key, content_type, bytes, sha256, true as is_result from task_result
      union all
      select task_id, ${servedName(sql)}, storage_key, content_type, bytes, sha256, false from task_input
      union all
      select id, ${THUMBNAIL}::text, thumbnail, 'image/webp', null, null, false
      from task where thumbnail is not null
    ) file on file.task_id = task.id
    where task.id = ${id} and file.name = ${name}
    union all
    select storage_key, content_type, bytes::float8, sha256,
      purged_at is not null or expires_at < now() - interval '1 hour', true, null
    from upload
    where id = ${id} and file_name = ${name} and received_at is not null
    limit 1
  `
  return row
}
