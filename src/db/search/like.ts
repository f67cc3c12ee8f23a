import type { Queryable } from '../client.ts'

/**
 * Patterns of `like` for a text in which `%`, `_` and `\` are plain characters, without regard to case. They are
 * subqueries, so that a pattern is computed once and not for each row.
 */

export const lowerText = (sql: Queryable, text: string) => sql`(select lower(${text}::text))`

export const startPattern = (sql: Queryable, text: string) =>
  sql`(select lower(${escape(text)}::text) || '%')`

export const partPattern = (sql: Queryable, text: string) =>
  sql`(select '%' || lower(${escape(text)}::text) || '%')`

const escape = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`)
