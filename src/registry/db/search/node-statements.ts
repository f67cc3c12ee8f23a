import type { NodeSort } from '../../domain/node-query.ts'
import type { Fragment, Queryable } from '../../../platform/db/client.ts'
import {
  classOf,
  hasHostNode,
  isByHostNode,
  isFound,
  isOfClass,
  isUnfiltered,
  nodeConditions,
  readTerm,
} from './node-filter.ts'
import type { NodeFilter, RelevanceClass } from './node-filter.ts'
import { limitForPlanner, type PagePart, type PagePlan } from './page-plan.ts'

/** The order of a search by relevance, ranking, downloads and id; others as they are asked for. All are total orders. */
export type NodeOrder = 'relevance' | NodeSort

export interface NodeList {
  filter: NodeFilter
  order: NodeOrder
}

/** The nodes of one class of relevance, or of all (0), that a page shows, and how they are read. */
export type PlannedPart = PagePart<RelevanceClass | 0> & { plan: PagePlan }

/** Rows of nodes: each has a `node_id`, and what the order of the rows names. */
export interface NodeRows {
  rows: Fragment
  order: Fragment
}

/** The rows of a page: its parts, one after the other. */
export const pageOf = (
  sql: Queryable,
  list: NodeList,
  parts: readonly PlannedPart[],
): NodeRows => ({
  rows: sql`
    select *
    from (
      ${parts
        .map((part) => sql`(${partStatement(sql, list, part)})`)
        .reduce((all, one) => sql`${all} union all ${one}`)}
    ) part
    ${limitForPlanner(
      sql,
      parts.reduce((size, { limit }) => size + limit, 0),
    )}
  `,
  order: sql`page.class desc, ${ORDERS[list.order](sql)}`,
})

/** Chooses the statement of a part. Its rows are `class` and `node_id`, in the order of the list. */
export const partStatement = (sql: Queryable, list: NodeList, part: PlannedPart): Fragment => {
  const { filter, order } = list
  if (part.plan === 'pick') return pickStatement(sql, list, part)
  if (part.plan === 'gather') return gatherStatement(sql, list, part)
  if (isByNodeColumn(order)) return walkNamesStatement(sql, list, part)
  return isUnfiltered(filter) ? walkAllStatement(sql, list, part) : walkStatement(sql, list, part)
}

/** Walks the index of an order that is by columns of `node_stats`, and looks up each node, until the part is full. */
const walkStatement = (
  sql: Queryable,
  { filter, order }: NodeList,
  { key, limit, offset }: PlannedPart,
) => sql`
  select ${key}::integer as class, s.node_id
  from node_stats s
  cross join lateral (
    select from node n
    where n.id = s.node_id and ${isOfKey(sql, filter, key)} ${nodeConditions(sql, filter, { asSet: false })}
    offset 0
  ) n
  where s.listed
  order by ${ORDERS[order](sql)}
  limit (select ${limit}::integer) offset (select ${offset}::integer)
`

/** Walks the same index where nothing narrows the list. */
const walkAllStatement = (
  sql: Queryable,
  { order }: NodeList,
  { key, limit, offset }: PlannedPart,
) => sql`
  select ${key}::integer as class, s.node_id
  from node_stats s
  where s.listed
  order by ${ORDERS[order](sql)}
  limit (select ${limit}::integer) offset (select ${offset}::integer)
`

/** Walks the index of the nodes' names. */
const walkNamesStatement = (
  sql: Queryable,
  { filter, order }: NodeList,
  { key, limit, offset }: PlannedPart,
) => sql`
  select ${key}::integer as class, s.node_id
  from node n
  cross join lateral (
    select node_id
    from node_stats s
    where s.node_id = n.id and s.listed
      and ${isOfKey(sql, filter, key)} ${nodeConditions(sql, filter, { asSet: false })}
    offset 0
  ) s
  order by ${ORDERS[order](sql)}
  limit (select ${limit}::integer) offset (select ${offset}::integer)
`

/** Takes all hits from the indexes of the filters, joins them in one pass, and sorts them. */
const gatherStatement = (sql: Queryable, list: NodeList, part: PlannedPart) => sql`
  with hit as materialized (${hits(sql, list, part)})
  select n.class, s.node_id
  from hit n
  join node_stats s on s.node_id = n.id
  where ${isShown(sql, list.filter)}
  order by ${GATHERED_ORDERS[list.order](sql)}
  limit (select ${part.limit}::integer) offset (select ${part.offset}::integer)
`

/** Takes a few hits from the indexes of the filters, looks up each, and sorts them. */
const pickStatement = (sql: Queryable, list: NodeList, part: PlannedPart) => sql`
  with hit as materialized (${hits(sql, list, part)})
  select n.class, s.node_id
  from hit n
  cross join lateral (select * from node_stats s where s.node_id = n.id offset 0) s
  where ${isShown(sql, list.filter)}
  order by ${GATHERED_ORDERS[list.order](sql)}
  limit (select ${part.limit}::integer) offset (select ${part.offset}::integer)
`

/** All that the filters find. The names of host nodes have a table of their own, and need no look at the nodes. */
const hits = (sql: Queryable, { filter, order }: NodeList, { key }: PlannedPart) => {
  if (isByHostNode(filter) && !isByNodeColumn(order))
    return sql`
      select node_id as id, ${key}::integer as class
      from node_host_names
      where ${hasHostNode(sql, filter.hostNode)}
    `
  const term = readTerm(filter)
  const isMixed = key === 0 && term !== undefined && order === 'relevance'
  return sql`
    select n.id, n.status, n.name_lower, n.github_stars,
      ${isMixed ? classOf(sql, term) : sql`${key}::integer`} as class
    from node n
    where ${isOfKey(sql, filter, key)} ${nodeConditions(sql, filter, { asSet: true })}
  `
}

/** The condition that a node has the term, as one of a class does. */
const isOfKey = (sql: Queryable, filter: NodeFilter, key: RelevanceClass | 0) => {
  const term = readTerm(filter)
  if (term === undefined) return sql`true`
  return key === 0 ? isFound(sql, term) : isOfClass(sql, term, key)
}

const isShown = (sql: Queryable, filter: NodeFilter) =>
  filter.includeRemoved ? sql`true` : isWhole(sql, filter)

/** The condition on `node n` and `node_stats s` that a node is shown with all its members. */
export const isWhole = (sql: Queryable, { includeBanned = false }: NodeFilter) =>
  includeBanned ? sql`n.status <> 'NodeStatusDeleted'` : sql`s.listed`

/** An order by a column of `node`, not of `node_stats`. */
export const isByNodeColumn = (order: NodeOrder): boolean => /^(name|github_stars)/.test(order)

/** The orders of lists. Each follows an index, backwards for `desc`. */
const ORDERS: Record<NodeOrder, (sql: Queryable) => Fragment> = {
  relevance: (sql) => sql`s.search_ranking, s.downloads desc, s.node_id`,
  search_ranking: (sql) => sql`s.search_ranking, s.downloads desc, s.node_id`,
  'search_ranking;desc': (sql) => sql`s.search_ranking desc, s.downloads, s.node_id desc`,
  downloads: (sql) => sql`s.downloads, s.node_id`,
  'downloads;desc': (sql) => sql`s.downloads desc, s.node_id desc`,
  created_at: (sql) => sql`s.created_at, s.node_id`,
  'created_at;desc': (sql) => sql`s.created_at desc, s.node_id desc`,
  rating: (sql) => sql`s.rating_weight, s.node_id`,
  'rating;desc': (sql) => sql`s.rating_weight desc, s.node_id desc`,
  name: (sql) => sql`n.name_lower, n.id`,
  'name;desc': (sql) => sql`n.name_lower desc, n.id desc`,
  github_stars: (sql) => sql`n.github_stars, n.id`,
  'github_stars;desc': (sql) => sql`n.github_stars desc, n.id desc`,
}

/** The same orders where hits are sorted; by relevance as one number (docs/decisions.md, Search and lists). */
const GATHERED_ORDERS: typeof ORDERS = {
  ...ORDERS,
  relevance: (sql) => sql`
    ((6 - n.class)::bigint << 52) + (s.search_ranking::bigint << 48) - s.downloads, s.node_id
  `,
}
