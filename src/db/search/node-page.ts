import { isDeepStrictEqual } from 'node:util'

import type { NodeSort } from '../../domain/registry/node-query.ts'
import type { Fragment, Queryable } from '../client.ts'
import { toEntries } from './entries.ts'
import type { Entries, EntryRow } from './entries.ts'
import { getListed } from './listed-count.ts'
import type { CountMemo, PlannedWith } from './listed-count.ts'
import { countNodes, sumOf } from './node-count.ts'
import type { ClassCounts } from './node-count.ts'
import {
  CLASSES,
  classOf,
  hasHostNode,
  isByHostNode,
  isFound,
  isOfClass,
  isUnfiltered,
  nodeConditions,
  readTerm,
} from './node-filter.ts'
import {
  LONGEST_PAGE,
  listedIds,
  listNodeEntries,
  nodeEntriesQuery,
  readNodeEntries,
} from './node-entries.ts'
import type { NodeFilter, RelevanceClass } from './node-filter.ts'
import type { RecordOptions } from '../registry/node.ts'
import { FEW, choosePagePlan, dividePage, limitForPlanner, limitTo } from './page-plan.ts'
import type { PagePart, PagePlan } from './page-plan.ts'

/**
 * Pages of nodes: those of a search by relevance, ranking, downloads and id; others as they are asked for. The order is a
 * total one, so that without writes no page repeats or skips a node.
 */
export type NodeOrder = 'relevance' | NodeSort

interface NodePageQuery {
  filter: NodeFilter
  order: NodeOrder
  offset: number
  limit: number
}

export interface NodePageOptions extends RecordOptions {
  /** Of this process. */
  memo: CountMemo
}

/**
 * A page of nodes, and how many there are in all. What the same page was planned with the last time is taken to hold
 * still, and the statement of the page tells whether it does.
 */
export const listNodePage = async (
  sql: Queryable,
  query: NodePageQuery,
  options: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> => {
  const { memo } = options
  const key = JSON.stringify(query)
  const known = query.limit <= LONGEST_PAGE ? memo.plans.find(key) : undefined
  const page = known && (await readPlanned(sql, query, known, options))
  if (known && page?.changes === known.changes) return page
  const { n: listed, changes } = await getListed(sql, 'node')
  const reach = query.offset + query.limit
  const counts = isUnfiltered(query.filter)
    ? { 0: listed }
    : await countNodes(sql, { ...query, reach }, { memo, changes })
  const plan = { changes, listed, counts }
  memo.plans.keep(key, plan)
  const partsOf = (by: PlannedWith) => planNodePage(query, by.counts, by.listed)
  // Mostly a change leaves the plan as it was, and only the total of the page that was read was in doubt.
  if (known && page?.changes === changes && isDeepStrictEqual(partsOf(known), partsOf(plan)))
    return { ...page, total: sumOf(counts, [0, ...CLASSES]) }
  return (
    (await readPlanned(sql, query, plan, options)) ?? (await readDeep(sql, query, plan, options))
  )
}

/** Undefined for a page that is empty or deep. */
const readPlanned = async (
  sql: Queryable,
  query: NodePageQuery,
  { counts, listed }: PlannedWith,
  { memo: { texts }, publicUrl }: NodePageOptions,
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
  { memo, publicUrl }: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> => {
  const total = sumOf(counts, [0, ...CLASSES])
  const parts = planNodePage(query, counts, listed)
  if (parts.length === 0) return { nodes: toEntries([]), total }
  const ids = await Promise.all(parts.map((part) => listIds(sql, query, part, { memo, changes })))
  const found = ids.flat()
  if (found.length > LONGEST_PAGE)
    return { nodes: await readNodeEntries(sql, found, { publicUrl }), total }
  const page = listedIds(sql, found)
  const { nodes } = await listNodeEntries(sql, page, { publicUrl, texts: memo.texts })
  return { nodes, total }
}

/** Ids that one gathering keeps: pages beside each other, and callers of the same page, share them. */
const BLOCK = 1_000

/** For so long a block keeps its order, although downloads are counted. What is found is always what is there. */
const BLOCK_MS = 60_000

/** Whether a part costs what lies before it, and not what it shows. An index of `node_stats` alone is quick to walk. */
const isDeep = (
  { filter, order }: Pick<NodePageQuery, 'filter' | 'order'>,
  { plan, offset }: PlannedPart,
) =>
  plan === 'gather' ||
  (plan === 'walk' && offset >= BLOCK && !(isUnfiltered(filter) && !isByName(order)))

/** The ids of a part of a page; of a deep one out of its block, which costs hardly more than the part. */
const listIds = async (
  sql: Queryable,
  { filter, order }: Pick<NodePageQuery, 'filter' | 'order'>,
  part: PlannedPart,
  { memo, changes }: { memo: CountMemo; changes: string },
): Promise<string[]> => {
  const read = async (offset: number, limit: number): Promise<string[]> => {
    const query = partQuery(sql, { filter, order }, { ...part, offset, limit })
    const rows = await sql<{ id: string }[]>`select node_id as id from ${query} part`
    return rows.map(({ id }) => id)
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
      return memo.getBlock(name, changes, async () => ({
        changes,
        counts: await read(block * BLOCK, BLOCK),
      }))
    }),
  )
  const start = offset - first * BLOCK
  return blocks.flat().slice(start, start + limit)
}

const isShown = (sql: Queryable, { includeBanned = false }: NodeFilter) =>
  includeBanned ? sql`n.status <> 'NodeStatusDeleted'` : sql`s.listed`

type PlannedPart = PagePart<RelevanceClass | 0> & { plan: PagePlan }

/** The classes that a page touches, and how each of them is read. */
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

export const nodePageQuery = (
  sql: Queryable,
  query: Pick<NodePageQuery, 'filter' | 'order'>,
  parts: readonly PlannedPart[],
  publicUrl: string,
) => nodeEntriesQuery(sql, { ...pageOf(sql, query, parts), publicUrl })

/** The rows of a page of so many parts, and their order. */
const pageOf = (
  sql: Queryable,
  { filter, order }: Pick<NodePageQuery, 'filter' | 'order'>,
  parts: readonly PlannedPart[],
) => ({
  page: sql`
    select *
    from (
      ${parts
        .map((part) => partQuery(sql, { filter, order }, part))
        .reduce((all, one) => sql`${all} union all ${one}`)}
    ) part
    ${limitForPlanner(sql, sizeOf(parts))}
  `,
  order: sql`page.class desc, ${orderOf(sql, order, sql`page`)}`,
})

const sizeOf = (parts: readonly PlannedPart[]): number =>
  parts.reduce((size, { limit }) => size + limit, 0)

const isByName = (order: NodeOrder): boolean => order.startsWith('name')

/** The order by the columns of an alias, or by `node n`. Each has an index, which is walked backwards for `desc`. */
const orderOf = (sql: Queryable, order: NodeOrder, alias: Fragment) => {
  const [by, direction] = order.split(';')
  const [up, down] = direction === 'desc' ? [sql`desc`, sql`asc`] : [sql`asc`, sql`desc`]
  if (by === 'name') return sql`n.name_lower ${up}, n.id ${up}`
  if (by === 'created_at' || by === 'downloads')
    return sql`${alias}.${sql(by)} ${up}, ${alias}.node_id ${up}`
  return sql`${alias}.search_ranking ${up}, ${alias}.downloads ${down}, ${alias}.node_id ${up}`
}

/**
 * The same of gathered hits. By relevance, class, ranking and downloads are one number: sorted by it, 20,000 hits take a
 * third less than by three.
 */
const placeOf = (sql: Queryable, order: NodeOrder) =>
  order === 'relevance'
    ? sql`((5 - n.class)::bigint << 52) + (s.search_ranking::bigint << 48) - s.downloads, s.node_id`
    : orderOf(sql, order, sql`s`)

const partQuery = (
  sql: Queryable,
  { filter, order }: Pick<NodePageQuery, 'filter' | 'order'>,
  { key, offset, limit, plan }: PlannedPart,
) => {
  const term = readTerm(filter)
  const columns = sql`s.node_id, s.search_ranking, s.downloads, s.created_at`
  const matches = sql`${term === undefined ? sql`true` : isOfKey(sql, term, key)}
    ${nodeConditions(sql, filter, { asSet: plan !== 'walk' })}`
  const isJudged = key === 0 && term !== undefined && order === 'relevance'
  const relevance = isJudged ? classOf(sql, term) : sql`${key}::integer`
  const page = sql`order by ${placeOf(sql, order)} ${limitTo(sql, { limit, offset })}`
  if (plan !== 'walk')
    return sql`(
      with hit as materialized (
        ${
          isByHostNode(filter) && !isByName(order)
            ? sql`select node_id as id, ${key}::integer as class from node_host_names
                where ${hasHostNode(sql, filter.hostNode)}`
            : sql`select n.id, n.status, n.name_lower, ${relevance} as class from node n where ${matches}`
        }
      )
      select n.class, ${columns} from hit n ${joinStats(sql, plan)}
      where ${isShown(sql, filter)}
      ${page}
    )`
  const walked = sql`order by ${orderOf(sql, order, sql`s`)} ${limitTo(sql, { limit, offset })}`
  if (isByName(order))
    return sql`(
      select ${key}::integer as class, ${columns}
      from node n
      cross join lateral (
        select * from node_stats s where s.node_id = n.id and s.listed and ${matches} offset 0
      ) s
      ${walked}
    )`
  if (isUnfiltered(filter))
    return sql`(select ${key}::integer as class, ${columns} from node_stats s where s.listed ${walked})`
  // With its own offset the look at a node stays one look-up by id, whatever other index would fit.
  return sql`(
    select ${key}::integer as class, ${columns}
    from node_stats s
    cross join lateral (select from node n where n.id = s.node_id and ${matches} offset 0) n
    where s.listed
    ${walked}
  )`
}

const isOfKey = (sql: Queryable, term: string, key: RelevanceClass | 0) =>
  key === 0 ? isFound(sql, term) : isOfClass(sql, term, key)

/** With its own offset it stays a look-up by id. */
const joinStats = (sql: Queryable, plan: PagePlan) =>
  plan === 'pick'
    ? sql`cross join lateral (select * from node_stats s where s.node_id = n.id offset 0) s`
    : sql`join node_stats s on s.node_id = n.id`
