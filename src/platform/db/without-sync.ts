import type { Queryable } from './client.ts'

/**
 * A column that makes the COMMIT of its statement not wait for the disk. For what may be lost with the server's memory: a
 * lease, or a mark without which something harmless is done twice. Later commits are on disk only with it.
 */
export const withoutSync = (sql: Queryable) =>
  sql`set_config('synchronous_commit', 'off', true) as "withoutSync"`
