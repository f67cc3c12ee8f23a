import { isDeepStrictEqual } from 'node:util'

import type { NodeSearchQuery } from '../../domain/node-query.ts'
import { offsetOf } from '../../../platform/db/audit-log.ts'
import type { RecordOptions } from '../node.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import {
  LONGEST_PAGE,
  listNodeEntries,
  nodeEntriesQuery,
  readNodeEntries,
  rowsOfIds,
  toEntries,
} from './entries.ts'
import type { Entries, EntryRow } from './entries.ts'
import { getListed, type CountCache, type PlannedWith } from './listed-count.ts'
import { countNodes, sumOf, type ClassCounts } from './node-count.ts'
import { CLASSES, WHOLE_REPOSITORY, isUnfiltered, readTerm } from './node-filter.ts'
import type { NodeFilter, RelevanceClass } from './node-filter.ts'
import { isByNodeColumn, pageOf, partStatement } from './node-statements.ts'
import type { NodeList, PlannedPart } from './node-statements.ts'
import { FEW, choosePagePlan, dividePage, type PagePart, type PagePlan } from './page-plan.ts'

/** A query whose defaults are applied and whose depth is validated; `include_banned` counts for platform admins alone. */
export type NodeSearch = NodeSearchQuery & {
  page: number
  limit: number
  excludedHostVersions?: readonly string[] | undefined
}

/** A page of the nodes that a search finds, the most relevant first unless asked otherwise, and how many there are. */
export const searchNodes = (
  sql: Queryable,
  search: NodeSearch,
  options: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> =>
  listNodePage(
    sql,
    {
      filter: toSearchFilter(search),
      order: search.sort ?? 'relevance',
      offset: offsetOf(search.page, search.limit),
      limit: search.limit,
    },
    options,
  )

/** Maps a query to its filter. An empty text is no filter. */
export const toSearchFilter = (search: Omit<NodeSearch, 'page' | 'limit'>): NodeFilter => ({
  ...readTerms(search),
  hostNode: search.host_node_search || undefined,
  os: search.supported_os,
  accelerators: search.supported_accelerator,
  tags: search.tag,
  licenses: search.license,
  excludedHostVersions: search.excludedHostVersions,
  includeBanned: search.include_banned,
})

/** Term and repository. The address of a repository as the term is meant as the repository: no pack has its words. */
const readTerms = (search: Pick<NodeSearch, 'search' | 'repository_url_search'>) => {
  const term = search.search?.trim() || undefined
  const repository = search.repository_url_search || undefined
  return term !== undefined && repository === undefined && WHOLE_REPOSITORY.test(term)
    ? { repository: term }
    : { term, repository }
}

interface NodePageQuery extends NodeList {
  offset: number
  limit: number
}

export interface NodePageOptions extends RecordOptions {
  /** Memory of this process. */
  cache: CountCache
}

/**
 * Lists a page of nodes, and how many there are in all. A page is first read by the counts that it was planned with the
 * last time; its statement also reads the change number, which shows if they still hold.
 */
export const listNodePage = async (
  sql: Queryable,
  query: NodePageQuery,
  options: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> => {
  if (query.filter.includeRemoved) return await listGrowingPage(sql, query, options)
  const { cache } = options
  const key = JSON.stringify(query)
  const known = query.limit <= LONGEST_PAGE ? cache.plans.find(key) : undefined
  const page = known && (await readPlanned(sql, query, known, options))
  if (known && page?.changes === known.changes) return page
  const { n: listed, changes } = await getListed(sql, 'node')
  const reach = query.offset + query.limit
  const counts = isUnfiltered(query.filter)
    ? { 0: listed }
    : await countNodes(sql, { ...query, reach }, { cache, changes })
  const plan = { changes, listed, counts }
  cache.plans.keep(key, plan)
  const partsOf = (by: PlannedWith) => planNodePage(query, by.counts, by.listed)
  // Mostly a change leaves the plan as it was, and only the total of the page that was read was in doubt.
  if (known && page?.changes === changes && isDeepStrictEqual(partsOf(known), partsOf(plan)))
    return { ...page, total: sumOf(counts, [0, ...CLASSES]) }
  return (
    (await readPlanned(sql, query, plan, options)) ?? (await readDeep(sql, query, plan, options))
  )
}

/**
 * Lists a page of a list that nothing leaves. Rows move to later pages alone, so a walk passes over none as long as a page is
 * of one moment, is not cut by a count from before, and the number of pages is from after it.
 */
const listGrowingPage = async (
  sql: Queryable,
  query: NodePageQuery,
  { cache, publicUrl }: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> => {
  const { filter, offset, limit } = query
  const count = async () => {
    const { changes } = await getListed(sql, 'node')
    const counts = await countNodes(sql, { filter, reach: offset + limit }, { cache, changes })
    return sumOf(counts, [0])
  }
  const counted = await count()
  if (offset >= counted) return { nodes: toEntries([]), total: counted }
  const plan = counted <= FEW ? 'pick' : 'gather'
  const part = { key: 0, plan, offset, limit } as const
  const rows = await sql<EntryRow[]>`${nodePageQuery(sql, query, [part], publicUrl)}`
  return { nodes: toEntries(rows), total: await count() }
}

/** Undefined for a page that is empty or deep. */
const readPlanned = async (
  sql: Queryable,
  query: NodePageQuery,
  { counts, listed }: PlannedWith,
  { cache: { texts }, publicUrl }: NodePageOptions,
) => {
  const parts = planNodePage(query, counts, listed)
  if (parts.length === 0 || parts.some((part) => isDeep(query, part))) return undefined
  const total = sumOf(counts, [0, ...CLASSES])
  if (query.limit > LONGEST_PAGE) {
    const rows = await sql<EntryRow[]>`${nodePageQuery(sql, query, parts, publicUrl)}`
    return { nodes: toEntries(rows), total, changes: undefined }
  }
  const page = await listNodeEntries(sql, pageOf(sql, query, parts), { publicUrl, texts })
  return { ...page, total }
}

const readDeep = async (
  sql: Queryable,
  query: NodePageQuery,
  { counts, listed, changes }: PlannedWith,
  { cache, publicUrl }: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> => {
  const total = sumOf(counts, [0, ...CLASSES])
  const parts = planNodePage(query, counts, listed)
  if (parts.length === 0) return { nodes: toEntries([]), total }
  const ids = await Promise.all(parts.map((part) => listIds(sql, query, part, { cache, changes })))
  const found = ids.flat()
  if (found.length > LONGEST_PAGE)
    return { nodes: await readNodeEntries(sql, found, { publicUrl }), total }
  const page = rowsOfIds(sql, found)
  const { nodes } = await listNodeEntries(sql, page, { publicUrl, texts: cache.texts })
  return { nodes, total }
}

/** Ids that one gathering keeps: pages beside each other, and callers of the same page, share them. */
const BLOCK = 1_000

/** For so long a block keeps its order, although downloads are counted. What is found is always what is there. */
const BLOCK_MS = 60_000

/** True when a part costs what lies before it, not what it shows. An index of `node_stats` alone is quick to walk. */
const isDeep = ({ filter, order }: NodeList, { plan, offset }: PlannedPart) =>
  plan === 'gather' ||
  (plan === 'walk' && offset >= BLOCK && !(isUnfiltered(filter) && !isByNodeColumn(order)))

/** Lists the ids of a part of a page; of a deep one out of its block, which costs hardly more than the part. */
const listIds = async (
  sql: Queryable,
  { filter, order }: NodeList,
  part: PlannedPart,
  { cache, changes }: { cache: CountCache; changes: string },
): Promise<string[]> => {
  const read = async (offset: number, limit: number): Promise<string[]> => {
    const statement = partStatement(sql, { filter, order }, { ...part, offset, limit })
    const rows = await sql<{ node_id: string }[]>`${statement}`
    return rows.map((row) => row.node_id)
  }
  const { key, offset, limit } = part
  if (!isDeep({ filter, order }, part)) return await read(offset, limit)
  const first = Math.floor(offset / BLOCK)
  const last = Math.floor((offset + limit - 1) / BLOCK)
  const age = Math.floor(Date.now() / BLOCK_MS)
  const blocks = await Promise.all(
    Array.from({ length: last - first + 1 }, (_, index) => {
      const block = first + index
      const name = JSON.stringify([age, order, key, block, filter])
      return cache.getBlock(name, changes, async () => ({
        changes,
        counts: await read(block * BLOCK, BLOCK),
      }))
    }),
  )
  const start = offset - first * BLOCK
  return blocks.flat().slice(start, start + limit)
}

/** Finds the classes that a page touches, and how each of them is read. */
export const planNodePage = (
  { filter, order, offset, limit }: NodePageQuery,
  counts: ClassCounts,
  listed: number,
): PlannedPart[] => {
  const total = sumOf(counts, [0, ...CLASSES])
  // Few hits are sorted together, by one statement that is planned once.
  if (readTerm(filter) !== undefined && total <= FEW && offset < total)
    return [{ key: 0, offset, limit, plan: 'pick' }]
  const isOne = readTerm(filter) === undefined || order !== 'relevance'
  const lists = isOne
    ? [{ key: 0 as const, length: total }]
    : CLASSES.map((key) => ({ key, length: counts[key] ?? 0 }))
  return dividePage<RelevanceClass | 0>(lists, { offset, limit }).map((part) => ({
    ...part,
    plan: choosePlan(part, { filter, counts, listed }),
  }))
}

const choosePlan = (
  { key, offset, limit }: PagePart<RelevanceClass | 0>,
  { filter, counts, listed }: { filter: NodeFilter; counts: ClassCounts; listed: number },
): PagePlan => {
  // The indexes of the orders hold listed nodes alone.
  if (filter.includeBanned) return 'gather'
  if (isUnfiltered(filter)) return 'walk'
  const all = [0, ...CLASSES] as const
  const hits = key === 0 ? sumOf(counts, all) : (counts[key] ?? 0)
  return choosePagePlan({
    gathered: sumOf(
      counts,
      all.filter((relevance) => key === 0 || relevance >= key),
    ),
    hits,
    // What changed last was mostly created last, so a walk by creation would meet all else first.
    reach: filter.changedSince ? hits : offset + limit,
    walked: listed,
  })
}

/** The statement of a page with its texts. */
export const nodePageQuery = (
  sql: Queryable,
  list: NodeList,
  parts: readonly PlannedPart[],
  publicUrl: string,
) => nodeEntriesQuery(sql, { ...pageOf(sql, list, parts), publicUrl, filter: list.filter })
