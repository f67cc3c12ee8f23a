import type { Fragment, Queryable } from '../../../platform/db/client.ts'
import type { RecordOptions } from '../node.ts'
import { nodeBytes, nodeJson, nodeRevision, removedNodeJson } from '../registry-json.ts'
import { changesOf, type NodeTexts } from './listed-count.ts'
import type { NodeFilter } from './node-filter.ts'
import { isWhole, type NodeRows } from './node-statements.ts'

/**
 * Entries of a list in its order. A list has as many as were asked for, but the texts of one statement have a bound: an
 * entry may hold a megabyte, and a page a thousand entries.
 */
export interface Entries {
  ids: string[]
  /** JSON of the first ones: of all unless they are large, and of one at least. */
  texts: string[]
  /** Those after them, whose JSON is for further statements. The revision differs whenever the JSON does. */
  rest: { id: string; revision: string }[]
}

export interface EntryRow {
  id: string
  revision: string
  /** null past the bound. */
  text: string | null
}

export const toEntries = (rows: readonly EntryRow[]): Entries => {
  const texts = rows.flatMap(({ text }) => text ?? [])
  return { ids: rows.map(({ id }) => id), texts, rest: rows.slice(texts.length) }
}

/** Most bytes that the long members of one statement's entries take as they are stored. */
const ENTRIES_BYTES = 2 * 2 ** 20

/**
 * The condition that an entry is within the bound, of a query that says its order in `window listed`.
 * @param bytes of the entry
 */
export const isWithin = (sql: Queryable, bytes: Fragment) => sql`
  (sum(${bytes}) over listed <= ${ENTRIES_BYTES} or row_number() over listed = 1)
`

export interface EntryOptions extends RecordOptions {
  /** Filter of the list: says which nodes are shown whole. */
  filter?: NodeFilter | undefined
}

const entryJson = (sql: Queryable, { publicUrl, filter = {} }: EntryOptions) =>
  filter.includeRemoved
    ? sql`case when ${isWhole(sql, filter)} then ${nodeJson(sql, publicUrl)}
        else ${removedNodeJson(sql)} end`
    : nodeJson(sql, publicUrl)

export const nodeEntriesQuery = (
  sql: Queryable,
  { rows, order, ...options }: EntryOptions & NodeRows,
) => sql`
  select n.id, ${nodeRevision(sql)} as revision,
    case when ${isWithin(sql, nodeBytes(sql))} then (${entryJson(sql, options)})::text end as text
  from (${rows}) page
  join node n on n.id = page.node_id
  join node_stats s on s.node_id = n.id
  join publisher p on p.id = n.publisher_id
  left join version v on v.id = n.latest_version_id
  window listed as (order by ${order})
  order by ${order}
`

/** The same without the texts, and the change number of the same snapshot. */
const nodeRevisionsQuery = (sql: Queryable, { rows, order }: NodeRows) => sql`
  select n.id, ${nodeRevision(sql)} as revision, null as text, ${changesOf(sql, 'node')} as changes
  from (${rows}) page
  join node n on n.id = page.node_id
  join node_stats s on s.node_id = n.id
  join publisher p on p.id = n.publisher_id
  left join version v on v.id = n.latest_version_id
  order by ${order}
`

/** Pages up to this length are made of texts in memory. A walk over all nodes, in long ones, would find none. */
export const LONGEST_PAGE = 100

export interface TextOptions extends RecordOptions {
  texts: NodeTexts
}

/**
 * Lists a page: only the texts that are not in memory at their revision are made. It also returns the change number,
 * unless the page is empty.
 */
export const listNodeEntries = async (
  sql: Queryable,
  page: NodeRows,
  options: TextOptions,
): Promise<{ nodes: Entries; changes: string | undefined }> => {
  const rows = await sql<(EntryRow & { changes: string })[]>`${nodeRevisionsQuery(sql, page)}`
  return { nodes: await fillTexts(sql, rows, options), changes: rows[0]?.changes }
}

/** Reads the entry of a node that is there. */
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
  for (const row of await readRows(sql, missing, { publicUrl })) {
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

/** The rows of a page of these nodes, in the order of the ids. */
export const rowsOfIds = (sql: Queryable, ids: readonly string[]): NodeRows => ({
  rows: sql`select * from unnest(${[...ids]}::text[]) with ordinality as asked (node_id, place)`,
  order: sql`page.place`,
})

const readRows = async (sql: Queryable, ids: readonly string[], options: EntryOptions) =>
  await sql<EntryRow[]>`${nodeEntriesQuery(sql, { ...rowsOfIds(sql, ids), ...options })}`

/** Reads nodes that a page has left for later, in the order of their ids here. */
export const readNodeEntries = async (
  sql: Queryable,
  ids: readonly string[],
  options: EntryOptions,
): Promise<Entries> => toEntries(await readRows(sql, ids, options))
