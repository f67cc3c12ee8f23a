import type { Node } from '../domain/node.ts'
import type { Queryable } from './client.ts'
import { changesOf, getListed } from './listed-count.ts'
import type { CountMemo, Counted } from './listed-count.ts'
import {
  CLASSES,
  classOf,
  isFound,
  isOfClass,
  isPart,
  hasWords,
  isUnfiltered,
  nodeConditions,
  partClassOf,
  readTerm,
  sortOf,
} from './node-filter.ts'
import type { NodeFilter, RelevanceClass } from './node-filter.ts'
import type { RecordOptions } from './node.ts'
import { FEW, choosePagePlan, dividePage, limitForPlanner, limitTo } from './page-plan.ts'
import type { PagePart, PagePlan } from './page-plan.ts'
import { joinNode, nodeJson } from './registry-json.ts'

/**
 * Pages of nodes: those of a search by relevance, ranking, downloads and id; others by time of creation and id. The order
 * is a total one, so that without writes no page repeats or skips a node.
 */
export type NodeOrder = 'relevance' | 'created'

export interface NodePageQuery {
  filter: NodeFilter
  order: NodeOrder
  offset: number
  limit: number
}

export interface NodePageOptions extends RecordOptions {
  /** Of this process. */
  memo: CountMemo
}

/** Nodes of each class of relevance; class 0 is all of them, where there is no term or they are not told apart. */
type ClassCounts = Partial<Record<RelevanceClass | 0, number>>

/** A page of nodes, and how many there are in all. */
export const listNodePage = async (
  sql: Queryable,
  query: NodePageQuery,
  { memo, publicUrl }: NodePageOptions,
): Promise<{ nodes: Node[]; total: number }> => {
  const listed = await getListed(sql, 'node')
  const counts = isUnfiltered(query.filter)
    ? { 0: listed.n }
    : await memo.get(`node ${JSON.stringify(query.filter)}`, listed.changes, () =>
        countNodes(sql, query.filter),
      )
  const parts = planNodePage(query, counts, listed.n)
  const rows =
    parts.length === 0
      ? []
      : await sql<{ node: Node }[]>`${nodePageQuery(sql, query, parts, publicUrl)}`
  return { nodes: rows.map(({ node }) => node), total: sumOf(counts, [0, ...CLASSES]) }
}

const sumOf = (counts: ClassCounts, classes: readonly (keyof ClassCounts)[]): number =>
  classes.reduce<number>((sum, relevance) => sum + (counts[relevance] ?? 0), 0)

/** Counts what a filter finds, class by class, with the change number of the same snapshot. */
export const countNodes = async (
  sql: Queryable,
  filter: NodeFilter,
): Promise<Counted<ClassCounts>> => {
  const [row] = await sql<Counted<ClassCounts>[]>`${nodeCountQuery(sql, filter)}`
  if (!row) throw new Error('a select without a row')
  return row
}

export const nodeCountQuery = (sql: Queryable, filter: NodeFilter) => {
  const term = readTerm(filter)
  const matches = sql`${isVisible(sql, filter)} ${nodeConditions(sql, filter)}`
  if (term !== undefined) return termCountQuery(sql, term, matches)
  return sql`
    select ${changesOf(sql, 'node')} as changes, json_build_object(0, count(*)) as counts
    from node n where ${matches}
  `
}

/**
 * Counts the parts, which are looked at one by one, and what has the words, of which the index is exact: the rows that are
 * both are known from the parts. One pass that judged the class of each row took five times as long.
 */
const termCountQuery = (
  sql: Queryable,
  term: string,
  matches: ReturnType<typeof nodeConditions>,
) => {
  const words = (sort: 'a' | 'b' | 'c') => sql`
    (select count(*) from node n where ${hasWords(sql, term, sort)} and ${matches})
      - count(*) filter (where sort <= ${sort})
  `
  return sql`
    select ${changesOf(sql, 'node')} as changes,
      json_build_object(5, five, 4, four, 3, three + a, 2, b - a, 1, c - b) as counts
    from (
      select count(*) filter (where class = 5) as five, count(*) filter (where class = 4) as four,
        count(*) filter (where class = 3) as three,
        ${words('a')} as a, ${words('b')} as b, ${words('c')} as c
      from (
        select ${partClassOf(sql, term)} as class, ${sortOf(sql, term)} as sort
        from node n where ${isPart(sql, term)} and ${matches}
        offset 0
      ) part
    ) counted
  `
}

/** By the rows of node and publisher, of which `listed` is made: to join it to so many rows would take longer. */
const isVisible = (sql: Queryable, { includeBanned = false }: NodeFilter) =>
  includeBanned
    ? sql`n.status <> 'NodeStatusDeleted'`
    : sql`n.status = 'NodeStatusActive' and n.publisher_id not in (
        select id from publisher where status <> 'PublisherStatusActive')`

const isShown = (sql: Queryable, { includeBanned = false }: NodeFilter) =>
  includeBanned ? sql`n.status <> 'NodeStatusDeleted'` : sql`s.listed`

type PlannedPart = PagePart<RelevanceClass | 0> & { plan: PagePlan }

/** The classes that a page touches, and how each of them is read. */
export const planNodePage = (
  { filter, offset, limit }: NodePageQuery,
  counts: ClassCounts,
  listed: number,
): PlannedPart[] => {
  const total = sumOf(counts, [0, ...CLASSES])
  // One statement for all classes, which is planned once, where all hits can be sorted.
  if (readTerm(filter) !== undefined && total <= FEW && offset < total)
    return [{ key: 0, offset, limit, plan: 'pick' }]
  const classes = readTerm(filter) === undefined ? ([0] as const) : CLASSES
  const lists = classes.map((key) => ({ key, length: counts[key] ?? 0 }))
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
  const hits = counts[key] ?? 0
  return choosePagePlan({
    gathered: sumOf(counts, key === 0 ? [0] : CLASSES.filter((relevance) => relevance >= key)),
    hits,
    // What changed last was mostly created last: a walk in that order meets all else before.
    reach: filter.changedSince ? hits : offset + limit,
    walked: listed,
  })
}

export const nodePageQuery = (
  sql: Queryable,
  { filter, order }: Pick<NodePageQuery, 'filter' | 'order'>,
  parts: readonly PlannedPart[],
  publicUrl: string,
) => sql`
  select ${nodeJson(sql, publicUrl)} as node
  from (
    select *
    from (
      ${parts
        .map((part) => partQuery(sql, { filter, order }, part))
        .reduce((all, one) => sql`${all} union all ${one}`)}
    ) part
    ${limitForPlanner(sql, sizeOf(parts))}
  ) page
  join node n on n.id = page.node_id
  ${joinNode(sql)}
  order by page.class desc, ${orderOf(sql, order, sql`page`)}
`

const sizeOf = (parts: readonly PlannedPart[]): number =>
  parts.reduce((size, { limit }) => size + limit, 0)

const orderOf = (sql: Queryable, order: NodeOrder, alias: ReturnType<Queryable>) =>
  order === 'created'
    ? sql`${alias}.created_at, ${alias}.node_id`
    : sql`${alias}.search_ranking, ${alias}.downloads desc, ${alias}.node_id`

const partQuery = (
  sql: Queryable,
  { filter, order }: Pick<NodePageQuery, 'filter' | 'order'>,
  { key, offset, limit, plan }: PlannedPart,
) => {
  const term = readTerm(filter)
  const columns = sql`s.node_id, s.search_ranking, s.downloads, s.created_at`
  const matches = sql`${term === undefined ? sql`true` : isOfKey(sql, term, key)}
    ${nodeConditions(sql, filter)}`
  const relevance = key === 0 && term !== undefined ? classOf(sql, term) : sql`${key}::integer`
  const page = sql`order by class desc, ${orderOf(sql, order, sql`s`)} ${limitTo(sql, { limit, offset })}`
  if (plan !== 'walk')
    return sql`(
      with hit as materialized (
        select n.id, n.status, ${relevance} as class from node n where ${matches}
      )
      select n.class, ${columns} from hit n ${joinStats(sql, plan)}
      where ${isShown(sql, filter)}
      ${page}
    )`
  const walked = sql`order by ${orderOf(sql, order, sql`s`)} ${limitTo(sql, { limit, offset })}`
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
