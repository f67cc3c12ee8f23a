import type { Sql } from '../client.ts'

/** The revisions of those of these tasks and versions that exist. */
export const readRevisions = async (
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await sql<{ id: string; rev: number }[]>`
    select id, rev from task where id = any(${ids}::uuid[])
    union all select id, rev from version where id = any(${ids}::uuid[])
  `
  return new Map(rows.map(({ id, rev }) => [id, rev]))
}
