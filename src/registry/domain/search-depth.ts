import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

/**
 * Caps how deep a listing may be read by page (page × size), because a page costs more the deeper it lies.
 * @param size name of the query's page size
 * @param reach SEARCH_MAX_DEPTH
 * @param instead what leads further, for the message
 */
export const validateDepth = (
  query: Readonly<Record<string, unknown>>,
  { size, reach, instead }: { size: 'limit' | 'pageSize'; reach: number; instead?: string },
): Issue[] => {
  const { page, [size]: entries } = query
  if (typeof page !== 'number' || typeof entries !== 'number' || page * entries <= reach) return []
  const rule = `must be such that page × ${size} is at most ${reach}`
  const hint = instead === undefined ? '' : `; ${instead} has no such limit`
  return [makeIssue('?page', `${rule}, got ${page} × ${entries}${hint}`)]
}

/** The route for clients that need all nodes. */
export const SEARCH_INSTEAD = 'GET /nodes'
