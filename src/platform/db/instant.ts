import type { Queryable } from './client.ts'

/** Formats a time as responses show it. */
export const instant = (sql: Queryable, time: ReturnType<Queryable>) =>
  sql`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
