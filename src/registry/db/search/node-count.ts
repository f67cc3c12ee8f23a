import type { Fragment, Queryable } from '../../../platform/db/client.ts'
import { changesOf, type CountCache, type Counted } from './listed-count.ts'
import {
  hasHostNode,
  hasWords,
  isByHostNode,
  isPart,
  isUnfiltered,
  nodeConditions,
  partClassOf,
  readTerm,
  sortOf,
} from './node-filter.ts'
import type { NodeFilter, RelevanceClass, WordSort } from './node-filter.ts'
import { FEW } from './page-plan.ts'

/** Nodes of each class of relevance; class 0 is all of them, where there is no term or they are not distinguished. */
export type ClassCounts = Partial<Record<RelevanceClass | 0, number>>

export const sumOf = (counts: ClassCounts, classes: readonly (keyof ClassCounts)[]): number =>
  classes.reduce<number>((sum, relevance) => sum + (counts[relevance] ?? 0), 0)

interface CountQuery {
  filter: NodeFilter
  /** Place in the list, from 1, of the last row that is wanted. */
  reach: number
}

interface CountOptions {
  cache: CountCache
  /** The change number at which counts in memory still hold. */
  changes: string
}

/**
 * Counts what a filter finds, class by class as far as the page reaches, and from memory where nothing has changed. Nodes
 * with the words are counted by the index alone, less those among the parts, which are counted one by one (docs/decisions.md,
 * Search: why these are up to five statements).
 */
export const countNodes = async (
  sql: Queryable,
  { filter, reach }: CountQuery,
  { cache, changes }: CountOptions,
): Promise<ClassCounts> => {
  const key = JSON.stringify(filter)
  const term = readTerm(filter)
  if (term === undefined)
    return { 0: await cache.get(`node ${key}`, changes, () => countAll(sql, filter)) }
  const get = <C extends Counts>(name: string, count: Count): Promise<C> =>
    cache.get<C>(`${name} ${key}`, changes, (before) => countTerm(sql, { filter, count }, before))
  const countAllWith = async (sort: WordSort): Promise<number> =>
    (await get<{ all: number }>(`word ${sort}`, countWords(sql, term, sort))).all
  const [parts, withWords] = await Promise.all([
    get<PartCounts>('part', countParts(sql, term)),
    countAllWith('d'),
  ])
  /** Those with the words that are no parts. A change between two statements must not make them negative. */
  const rest = (sort: WordSort, all: number) => Math.max(0, all - parts[sort])
  const d = rest('d', withWords)
  const { equal, start, part } = parts
  // Classes below 5 need no counts of their own: they lie behind the page, or are sorted together.
  if (reach <= equal + start || equal + start + part + d <= FEW)
    return { 6: equal, 5: start, 4: part, 1: d }
  // On two connections, as above.
  const countNarrow = async () => [await countAllWith('a'), await countAllWith('b')] as const
  const [[withA, withB], withC] = await Promise.all([countNarrow(), countAllWith('c')])
  const [a, b, c] = [rest('a', withA), rest('b', withB), rest('c', withC)]
  return {
    6: equal,
    5: start,
    4: part + a,
    3: Math.max(0, b - a),
    2: Math.max(0, c - b),
    1: Math.max(0, d - c),
  }
}

type PartCounts = Record<WordSort | 'equal' | 'start' | 'part', number>

const countAll = async (sql: Queryable, filter: NodeFilter): Promise<Counted<number>> =>
  onlyRow(
    isByHostNode(filter)
      ? await sql<Counted<number>[]>`
          select ${changesOf(sql, 'node')} as changes, count(*)::float8 as counts
          from node_host_names
          where ${hasHostNode(sql, filter.hostNode)}
            and node_id not in (select node_id from node_stats where not listed)
        `
      : await sql<Counted<number>[]>`
          select ${changesOf(sql, 'node')} as changes, count(*)::float8 as counts
          from node n
          where ${matches(sql, filter)}
        `,
  )

/** The statement that counts nodes. `nodes` are rows called `n`, and a condition on them. */
type Count = (nodes: Fragment) => Fragment

/** Counts nodes with the term as a part of id or name by their class, and by the narrowest sort that has its words. */
const countParts =
  (sql: Queryable, term: string): Count =>
  (nodes) =>
    sql`
    select json_build_object(
      'equal', count(*) filter (where class = 6), 'start', count(*) filter (where class = 5),
      'part', count(*) filter (where class = 4), 'a', count(*) filter (where sort <= 'a'),
      'b', count(*) filter (where sort <= 'b'), 'c', count(*) filter (where sort <= 'c'),
      'd', count(*) filter (where sort <= 'd'))
    from (
      select ${partClassOf(sql, term)} as class, ${sortOf(sql, term)} as sort
      from ${nodes} and ${isPart(sql, term)}
      offset 0
    ) part
  `

const countWords =
  (sql: Queryable, term: string, sort: WordSort): Count =>
  (nodes) =>
    sql`
    select json_build_object('all', count(*)) from ${nodes} and ${hasWords(sql, term, sort)}
  `

type Counts = Record<string, number>

/** Counts what has a term: from the beginning, or what was counted before brought up to date. */
const countTerm = async <C extends Counts>(
  sql: Queryable,
  { filter, count }: { filter: NodeFilter; count: Count },
  before: Counted<C> | undefined,
): Promise<Counted<C>> => {
  if (before?.snapshot && isUnfiltered({ ...filter, term: undefined }))
    return await updateCounts(sql, count, { ...before, snapshot: before.snapshot })
  return onlyRow(
    await sql<Counted<C>[]>`
      select ${changesOf(sql, 'node')} as changes, pg_current_snapshot()::text as snapshot,
        (${count(sql`node n where ${matches(sql, filter)}`)}) as counts
    `,
  )
}

/**
 * Brings counts up to date by the nodes that were changed since: the trigger on `node` (0014_node_change.sql) writes
 * each as it was into `node_change`, and the two snapshots show which these are.
 */
const updateCounts = async <C extends Counts>(
  sql: Queryable,
  count: Count,
  before: Counted<C> & { snapshot: string },
): Promise<Counted<C>> => {
  const rows = await sql<(Counted<C> & { lost: C })[]>`
    with changed as materialized (
      select distinct on (node_id) node_id, listed, id_lower, name_lower, words
      from node_change
      where xid >= pg_snapshot_xmin(${before.snapshot}::pg_snapshot)
        and not pg_visible_in_snapshot(xid, ${before.snapshot}::pg_snapshot)
      order by node_id, id
    ), listed as materialized (
      select n.id_lower, n.name_lower, n.words
      from changed c
      -- With their own offset both stay look-ups by id.
      cross join lateral (
        select from node_stats where node_id = c.node_id and listed offset 0
      ) s
      cross join lateral (select * from node where id = c.node_id offset 0) n
    )
    select ${changesOf(sql, 'node')} as changes, pg_current_snapshot()::text as snapshot,
      (${count(sql`listed n where true`)}) as counts, (${count(sql`changed n where listed`)}) as lost
  `
  const { lost, ...found } = onlyRow(rows)
  const counts = Object.entries(before.counts).map(([name, n]) => [
    name,
    n + (found.counts[name] ?? 0) - (lost[name] ?? 0),
  ])
  return { ...found, counts: Object.fromEntries(counts) as C }
}

const onlyRow = <Row>([row]: readonly Row[]): Row => {
  if (!row) throw new Error('an aggregate without a row')
  return row
}

/** Conditions on `node n` and its publisher, from which `listed` is derived: joining `node_stats` to so many rows is slower. */
export const matches = (sql: Queryable, filter: NodeFilter) => sql`
  ${isShown(sql, filter)}
  ${nodeConditions(sql, filter)}
`

const isShown = (sql: Queryable, { includeRemoved, includeBanned }: NodeFilter) => {
  if (includeRemoved) return sql`true`
  return includeBanned
    ? sql`n.status <> 'NodeStatusDeleted'`
    : sql`n.status = 'NodeStatusActive' and n.publisher_id not in (
        select id from publisher where status <> 'PublisherStatusActive')`
}
