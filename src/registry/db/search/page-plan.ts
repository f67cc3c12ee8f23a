import type { Queryable } from '../../../platform/db/client.ts'

/**
 * Ways to read a page of a long list. `pick` and `gather` take all hits from the filters' indexes and sort them: `pick`
 * looks up each of a few hits, `gather` joins many. `walk` follows the index of the order and looks at each row until the
 * page is full. The counts decide, because the planner does not know the values of a prepared statement; each statement can
 * run in one way only (docs/search.md).
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

/** Cost of a walked row in gathered rows (docs/decisions.md, Search and lists). */
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
 * A bound that the planner sees, round so that statements are few. Exact bounds are hidden in subqueries, because it would
 * plan each call again (docs/decisions.md, Search and lists).
 */
export const limitForPlanner = (sql: Queryable, limit: number) => {
  if (limit <= 10) return sql`limit 10`
  return limit <= 100 ? sql`limit 100` : sql`limit 1000`
}
