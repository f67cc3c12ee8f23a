import type { Fragment, Queryable } from '../client.ts'
import type { RecordOptions } from '../registry/node.ts'
import { joinNode, nodeBytes, nodeJson, nodeRevision } from '../registry/registry-json.ts'
import { isWithin, toEntries } from './entries.ts'
import type { Entries, EntryRow } from './entries.ts'

/** The entries of a page of nodes. Its rows have a `node_id` and what the order names. */
export const nodeEntriesQuery = (
  sql: Queryable,
  { page, order, publicUrl }: RecordOptions & { page: Fragment; order: Fragment },
) => sql`
  select n.id, ${nodeRevision(sql)} as revision,
    case when ${isWithin(sql, nodeBytes(sql))} then ${nodeJson(sql, publicUrl)}::text end as text
  from (${page}) page
  join node n on n.id = page.node_id
  ${joinNode(sql)}
  window listed as (order by ${order})
  order by ${order}
`

/** Nodes that a page has left for later, in the order of their ids here. */
export const readNodeEntries = async (
  sql: Queryable,
  ids: readonly string[],
  { publicUrl }: RecordOptions,
): Promise<Entries> => {
  const page = sql`
    select * from unnest(${[...ids]}::text[]) with ordinality as asked (node_id, place)
  `
  const rows = await sql<EntryRow[]>`
    ${nodeEntriesQuery(sql, { page, order: sql`page.place`, publicUrl })}
  `
  return toEntries(rows)
}
