import type { Queryable } from '../client.ts'

/**
 * How a page of a long list is read. `pick` and `gather` take all hits from the filters' indexes and sort them: `pick`
 * looks up each of a few hits, `gather` joins many. `walk` follows the index of the order and looks at each row until
 * the page is full. For a word in 80 % of 100,000 nodes a walk takes 0.04 ms where gathering takes 70 ms; for a rare
 * word it is the other way round. The planner cannot tell, because it does not know the values of a prepared statement.
 * So the counts, which are known, decide, and each statement is written so that it can run in one way only.
 */
export type PagePlan = 'pick' | 'gather' | 'walk'

interface PageSize {
  /** Rows that the filters' indexes give. */
  gathered: number
  /** Those among them that belong to the list. */
  hits: number
  /** Place in the list of the last row of the page, from 1. */
  reach: number
  /** Rows that the index of the order holds. */
  walked: number
}

/** Above it one pass over a whole table is cheaper than a look-up for each hit. */
export const FEW = 1_000

/**
 * Cost of a walked row in gathered rows. At 100,000 nodes both take 3 µs: a look-up by id that judges the words, and a
 * row of a bitmap with its join and the sort.
 */
const WALK_COST = 1

export const choosePagePlan = ({ gathered, hits, reach, walked }: PageSize): PagePlan => {
  if (gathered > (WALK_COST * reach * walked) / Math.max(hits, 1)) return 'walk'
  return gathered <= FEW ? 'pick' : 'gather'
}

/** The part of a page that one of several lists one after the other gives. */
export interface PagePart<Key> {
  key: Key
  offset: number
  limit: number
}

/** Divides a page among lists of known lengths that follow each other. */
export const dividePage = <Key>(
  lists: readonly { key: Key; length: number }[],
  { offset, limit }: { offset: number; limit: number },
): PagePart<Key>[] => {
  let before = 0
  return lists.flatMap(({ key, length }) => {
    const from = Math.max(offset - before, 0)
    const to = Math.min(offset + limit - before, length)
    before += length
    return from < to ? [{ key, offset: from, limit: to - from }] : []
  })
}

/**
 * Bounds a page by numbers that the planner does not see. If it saw them it would plan every call anew, because it
 * guesses that a plan for any number costs more; and planning takes longer than most of these statements.
 */
export const limitTo = (sql: Queryable, { limit, offset }: { limit: number; offset: number }) =>
  sql`limit (select ${limit}::integer) offset (select ${offset}::integer)`

/**
 * A bound that the planner does see. It takes a page of unknown size for a tenth of the table, and would read all that
 * is joined to it from end to end. There are few bounds, because each makes a statement of its own.
 */
export const limitForPlanner = (sql: Queryable, limit: number) => {
  if (limit <= 10) return sql`limit 10`
  return limit <= 100 ? sql`limit 100` : sql`limit 1000`
}
