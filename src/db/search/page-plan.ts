import type { Queryable } from '../client.ts'

/**
 * How a page of a long list is read. `pick` and `gather` take all hits out of the filters' indexes and sort them, the
 * first of few, each of which is looked up; `walk` follows the index of the order and looks at each row until the page is
 * full. For a word in 80 % of 100,000 nodes a walk takes 0.04 ms where gathering takes 70 ms; for a rare word it is the
 * other way round. The planner cannot tell, because it does not know the values of a prepared statement: so the counts,
 * which are known, decide, and the statements are written so that each can only be carried out in its one way.
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
 * What a row that is walked over costs beside one that is gathered: measured at 100,000 nodes the look-up by id with the
 * words judged takes as long as a row out of a bitmap with its join and the sort, 3 µs.
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
 * The rows of a page, with numbers that the planner does not see: where it does, it plans each call anew, because a plan
 * for any number costs more by its guess, and planning takes longer than most of these statements.
 */
export const limitTo = (sql: Queryable, { limit, offset }: { limit: number; offset: number }) =>
  sql`limit (select ${limit}::integer) offset (select ${offset}::integer)`

/**
 * A bound that it does see, of the size of the page: one of unknown size is taken for a tenth of the table, and all that is
 * joined to it would be read from end to end. Few different bounds, because each is a statement of its own.
 */
export const limitForPlanner = (sql: Queryable, limit: number) => {
  if (limit <= 10) return sql`limit 10`
  return limit <= 100 ? sql`limit 100` : sql`limit 1000`
}
