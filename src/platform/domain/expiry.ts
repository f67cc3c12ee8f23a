import { IsDateTime } from 'typebox/format'

import { shown } from './errors.ts'
import { makeIssue, type Issue } from './validate.ts'

/**
 * Rejects an `expires_at`, or another such member, that its format lets pass and that PostgreSQL or Date cannot hold: a leap second, the year 0
 * or, with an offset, the year 10000. The clock of the database decides whether it lies in the future: see
 * `pastExpiry`.
 */
export const validateExpiry = (
  body: Readonly<Record<string, unknown>>,
  name = 'expires_at',
): Issue[] => {
  const value = body[name]
  if (typeof value !== 'string' || !IsDateTime(value)) return []
  const time = Date.parse(value)
  return time > 0 && time <= LAST_TIME ? [] : [pastExpiry(value, name)]
}

/** Makes the issue of such a member that has passed. */
export const pastExpiry = (value: string, name = 'expires_at'): Issue =>
  makeIssue(`/${name}`, `must be an ISO 8601 date-time in the future, got ${shown(value)}`)

/** Limit of the life of a key or token. */
export interface LifeLimit {
  /** KEY_MAX_DAYS; 0: as long as its maker likes. */
  keyMaxDays: number
  now: () => Date
}

const DAY_MS = 86_400_000

/** Rejects the same of a key or token, and an end that is absent or too far where their life is limited. */
export const validateLife = (
  body: Readonly<Record<string, unknown>>,
  { keyMaxDays, now }: LifeLimit,
): Issue[] => {
  const issues = validateExpiry(body)
  const { expires_at: end } = body
  if (issues.length > 0 || keyMaxDays === 0) return issues
  const isTooFar =
    typeof end === 'string' && Date.parse(end) > now().getTime() + keyMaxDays * DAY_MS
  if (end !== undefined && !isTooFar) return []
  const came = end === undefined ? 'but is absent' : `got ${shown(end)}`
  const longest = `${keyMaxDays} days from now (KEY_MAX_DAYS)`
  return [makeIssue('/expires_at', `must be an ISO 8601 date-time at most ${longest}, ${came}`)]
}

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')
