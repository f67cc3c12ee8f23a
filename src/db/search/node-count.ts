import type { Queryable } from '../client.ts'
import { changesOf } from './listed-count.ts'
import type { CountMemo, Counted } from './listed-count.ts'
import {
  hasHostNode,
  hasWords,
  isByHostNode,
  isPart,
  nodeConditions,
  partClassOf,
  readTerm,
  sortOf,
} from './node-filter.ts'
import type { NodeFilter, RelevanceClass, WordSort } from './node-filter.ts'
import { FEW } from './page-plan.ts'

/** Nodes of each class of relevance; class 0 is all of them, where there is no term or they are not told apart. */
export type ClassCounts = Partial<Record<RelevanceClass | 0, number>>

export const sumOf = (counts: ClassCounts, classes: readonly (keyof ClassCounts)[]): number =>
  classes.reduce<number>((sum, relevance) => sum + (counts[relevance] ?? 0), 0)

interface CountQuery {
  filter: NodeFilter
  /** Place in the list, from 1, of the last row that is wanted. */
  reach: number
}

interface CountOptions {
  memo: CountMemo
  /** The change number at which counts in memory still hold. */
  changes: string
}

/**
 * Counts what a filter finds, class by class as far as the page reaches, and from memory where nothing has changed.
 * Nodes with the term as a part of id or name are judged one by one. Nodes with the words are counted by the index,
 * which is exact, less those among the parts. One pass that judged the class of each row took five times as long. Each
 * count is a statement of its own: a page of names that begin with a frequent word needs two of the four.
 */
export const countNodes = async (
  sql: Queryable,
  { filter, reach }: CountQuery,
  { memo, changes }: CountOptions,
): Promise<ClassCounts> => {
  const key = JSON.stringify(filter)
  const term = readTerm(filter)
  if (term === undefined)
    return { 0: await memo.get(`node ${key}`, changes, () => countAll(sql, filter)) }
  const countAllWith = (sort: WordSort): Promise<number> =>
    memo.get(`word ${sort} ${key}`, changes, () => countWords(sql, filter, term, sort))
  // Both are always needed, and each may take a connection for 20 ms.
  const [parts, withWords] = await Promise.all([
    memo.get(`part ${key}`, changes, () => countParts(sql, filter, term)),
    countAllWith('c'),
  ])
  /** Those with the words that are no parts. A change between two statements must not make them negative. */
  const c = Math.max(0, withWords - parts.c)
  const { five, four, three } = parts
  // Classes below 4 need no counts of their own: they lie behind the page, or are sorted together.
  if (reach <= five + four || five + four + three + c <= FEW)
    return { 5: five, 4: four, 3: three, 1: c }
  const [withA, withB] = await Promise.all([countAllWith('a'), countAllWith('b')])
  const a = Math.max(0, withA - parts.a)
  const b = Math.max(0, withB - parts.b)
  return { 5: five, 4: four, 3: three + a, 2: Math.max(0, b - a), 1: Math.max(0, c - b) }
}

interface PartCounts extends Record<WordSort, number> {
  five: number
  four: number
  three: number
}

const countAll = (sql: Queryable, filter: NodeFilter): Promise<Counted<number>> =>
  countBy<number>(sql`
    select ${changesOf(sql, 'node')} as changes, count(*)::float8 as counts
    ${
      isByHostNode(filter)
        ? sql`from node_host_names where ${hasHostNode(sql, filter.hostNode)}
            and node_id not in (select node_id from node_stats where not listed)`
        : sql`from node n where ${matches(sql, filter)}`
    }
  `)

const countParts = (
  sql: Queryable,
  filter: NodeFilter,
  term: string,
): Promise<Counted<PartCounts>> =>
  countBy<PartCounts>(sql`
    select ${changesOf(sql, 'node')} as changes, json_build_object(
      'five', count(*) filter (where class = 5), 'four', count(*) filter (where class = 4),
      'three', count(*) filter (where class = 3), 'a', count(*) filter (where sort <= 'a'),
      'b', count(*) filter (where sort <= 'b'), 'c', count(*) filter (where sort <= 'c')) as counts
    from (
      select ${partClassOf(sql, term)} as class, ${sortOf(sql, term)} as sort
      from node n where ${isPart(sql, term)} and ${matches(sql, filter)}
      offset 0
    ) part
  `)

const countWords = (
  sql: Queryable,
  filter: NodeFilter,
  term: string,
  sort: WordSort,
): Promise<Counted<number>> =>
  countBy<number>(sql`
    select ${changesOf(sql, 'node')} as changes, count(*)::float8 as counts
    from node n where ${hasWords(sql, term, sort)} and ${matches(sql, filter)}
  `)

const countBy = async <Counts>(query: PromiseLike<readonly object[]>): Promise<Counted<Counts>> => {
  const [row] = await query
  if (!row) throw new Error('an aggregate without a row')
  return row as Counted<Counts>
}

/** Reads node and publisher, from which `listed` is derived: to join `node_stats` to so many rows would take longer. */
const matches = (sql: Queryable, filter: NodeFilter) => sql`
  ${
    filter.includeBanned
      ? sql`n.status <> 'NodeStatusDeleted'`
      : sql`n.status = 'NodeStatusActive' and n.publisher_id not in (
          select id from publisher where status <> 'PublisherStatusActive')`
  }
  ${nodeConditions(sql, filter)}
`
