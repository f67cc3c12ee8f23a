import type { Sql } from './client.ts'

/**
 * Rows of one step: few, so that no statement holds locks for long. Of a parameter PostgreSQL would assume a tenth of all
 * rows, and plan again each time.
 */
export const purgeBatch = (sql: Sql) => sql`limit 200`

/** Tables whose rows go by age alone: name, column of the time, and hours. */
const OLD_RECORDS = [
  ['idempotency', 'created_at', 24],
  ['outbox', 'dispatched_at', 7 * 24],
  ['node_change', 'at', 24],
  ['picture', 'fetched_at', 24],
  // One that is in no COMFYUI_URLS any more.
  ['instance', 'seen_at', 30 * 24],
  ['sign_in_record', 'expires_at', 0],
  ['task_token', 'expires_at', 0],
  ['sign_in_once', 'expires_at', 0],
  ['sign_in_failure', 'at', 24],
] as const

/** Deletes rows of these tables by age; returns how many. */
export const deleteOldRecords = async (sql: Sql): Promise<number> => {
  let deleted = 0
  for (const [table, at, hours] of OLD_RECORDS) {
    const { count } = await sql`
      delete from ${sql(table)}
      where ctid = any(array(
        select ctid from ${sql(table)}
        where ${sql(at)} < now() - make_interval(hours => ${hours})
        ${purgeBatch(sql)}
      ))
    `
    deleted += count
  }
  return deleted
}
