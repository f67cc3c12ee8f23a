import type { Sql } from '../../platform/db/client.ts'

/** Rows by their ids, with the keys of the files that the store must have for each. */
export interface KeptFiles {
  id: string
  keys: string[]
}

/** Lists the results and the own inputs of the next tasks after an id. */
export const listTaskFiles = async (
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<KeptFiles[]> =>
  await sql<KeptFiles[]>`
  select t.id,
    array(select storage_key from task_result r where r.task_id = t.id) ||
    array(select storage_key from task_input i
      where i.task_id = t.id and i.storage_key like 'inputs/' || t.id || '/%') as keys
  from task t
  where t.id > ${after} and t.purged_at is null and t.delete_requested_at is null
  order by t.id
  limit ${limit}
`
