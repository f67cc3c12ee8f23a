import type { Fragment, Queryable } from '../client.ts'
import type { RecordOptions } from '../registry/node.ts'
import { joinNode, nodeBytes, nodeJson, nodeRevision } from '../registry/registry-json.ts'
import { isWithin, toEntries } from './entries.ts'
import type { Entries, EntryRow } from './entries.ts'
import { changesOf } from './listed-count.ts'
import type { NodeTexts } from './node-texts.ts'

/** A query of nodes. Its rows have a `node_id` and what the order names. */
interface NodePage {
  page: Fragment
  order: Fragment
}

export interface TextOptions extends RecordOptions {
  texts: NodeTexts
}

/** The entries of a page of nodes. */
export const nodeEntriesQuery = (
  sql: Queryable,
  { page, order, publicUrl }: RecordOptions & NodePage,
) => sql`
  select n.id, ${nodeRevision(sql)} as revision,
    case when ${isWithin(sql, nodeBytes(sql))} then ${nodeJson(sql, publicUrl)}::text end as text
  from (${page}) page
  join node n on n.id = page.node_id
  ${joinNode(sql)}
  window listed as (order by ${order})
  order by ${order}
`

/** The same without the texts, and the change number of the same snapshot. */
const nodeRevisionsQuery = (sql: Queryable, { page, order }: NodePage) => sql`
  select n.id, ${nodeRevision(sql)} as revision, null as text, ${changesOf(sql, 'node')} as changes
  from (${page}) page
  join node n on n.id = page.node_id
  ${joinNode(sql)}
  order by ${order}
`

/** Pages up to this length are made of texts in memory. A walk over all nodes, in long ones, would find none. */
export const LONGEST_PAGE = 100

/**
 * Lists a page: only the texts that are not in memory at their revision are made. It also tells the change number,
 * unless the page is empty.
 */
export const listNodeEntries = async (
  sql: Queryable,
  page: NodePage,
  options: TextOptions,
): Promise<{ nodes: Entries; changes: string | undefined }> => {
  const rows = await sql<(EntryRow & { changes: string })[]>`${nodeRevisionsQuery(sql, page)}`
  return { nodes: await fillTexts(sql, rows, options), changes: rows[0]?.changes }
}

/** The entry of a node that is there. */
export const readNodeText = async (
  sql: Queryable,
  node: { id: string; revision: string },
  options: TextOptions,
): Promise<string> => {
  const { texts } = await fillTexts(sql, [{ ...node, text: null }], options)
  return texts[0] ?? ''
}

const fillTexts = async (
  sql: Queryable,
  rows: readonly EntryRow[],
  { texts, publicUrl }: TextOptions,
): Promise<Entries> => {
  const known = rows.map((row) => ({ ...row, text: texts.find(row) ?? null }))
  const missing = known.filter(({ text }) => text === null).map(({ id }) => id)
  if (missing.length === 0) return toEntries(known)
  const read = new Map<string, EntryRow>()
  for (const row of await readRows(sql, missing, publicUrl)) {
    texts.keep(row)
    read.set(row.id, row)
  }
  const filled = known.map((row) => read.get(row.id) ?? row)
  const unread = filled.findIndex(({ text }) => text === null)
  return unread < 0
    ? toEntries(filled)
    : {
        ...toEntries(filled),
        texts: toEntries(filled.slice(0, unread)).texts,
        rest: filled.slice(unread),
      }
}

/** A page of these nodes, in the order of the ids. */
export const listedIds = (sql: Queryable, ids: readonly string[]): NodePage => ({
  page: sql`select * from unnest(${[...ids]}::text[]) with ordinality as asked (node_id, place)`,
  order: sql`page.place`,
})

const readRows = async (sql: Queryable, ids: readonly string[], publicUrl: string) =>
  await sql<EntryRow[]>`${nodeEntriesQuery(sql, { ...listedIds(sql, ids), publicUrl })}`

/** Nodes that a page has left for later, in the order of their ids here. */
export const readNodeEntries = async (
  sql: Queryable,
  ids: readonly string[],
  { publicUrl }: RecordOptions,
): Promise<Entries> => toEntries(await readRows(sql, ids, publicUrl))
