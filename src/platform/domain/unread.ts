import type { TSchema } from 'typebox'

import { shown } from './errors.ts'
import { findMeant } from './meant.ts'
import { toPointer } from './pointer.ts'
import { isUnruled, memberRule } from './validate.ts'
import type { Issue, SchemaNode } from './validate.ts'

/** A name in a request that nothing reads, or that takes no effect in it. */
export interface Unread {
  /** A JSON Pointer, or `?name`. */
  field: string
  /** The field that was meant, most likely. */
  meant: string | undefined
  value: unknown
  /** Why it takes no effect; absent where nothing knows the name. */
  reason?: string
}

/** Most names that are looked for: a request may hold a million. */
const MAX = 100

/** Lists the members of a body that its schema does not name. @param nulls also null members, which count as absent */
export const listUnread = (schema: TSchema, body: unknown, nulls = false): Unread[] => {
  const found: Unread[] = []
  const visit = (value: unknown, rule: SchemaNode | undefined, at: string): void => {
    if (rule === undefined || isUnruled(rule) || typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (found.length === MAX) return
      const inner = Array.isArray(value) ? rule.items : memberRule(rule, name)
      if (inner) {
        if (typeof member === 'object') visit(member, inner, at + toPointer([name]))
      } else if (rule.properties && (nulls || member !== null)) {
        const near = findMeant(name, Object.keys(rule.properties))
        const meant = near && at + toPointer([near])
        found.push({ field: at + toPointer([name]), meant, value: member })
      }
    }
  }
  visit(body, schema, '')
  return found
}

/** Lists the names of a query that none of `known` is. */
export const listUnreadNames = (known: readonly string[], query: URLSearchParams): Unread[] => {
  const names = [...new Set(query.keys())].filter((name) => !known.includes(name)).slice(0, MAX)
  return names.map((name) => {
    const near = findMeant(name, known)
    const reason = known.includes('after') && PAGES.includes(name) ? CURSOR : undefined
    return {
      field: `?${name}`,
      meant: near && `?${near}`,
      value: query.get(name),
      ...(reason && { reason }),
    }
  })
}

/** Names by which other lists go on. */
const PAGES: readonly string[] = ['page', 'offset', 'cursor', 'page_token', 'starting_after']
const CURSOR = 'this list goes on by a cursor: ?after takes the next of the page before'

/** Rules of a route for what nothing reads. */
interface UnreadRules {
  /** Only names that were meant otherwise are rejected. */
  unread?: 'ignored' | undefined
  /** Members of the body that are not. */
  sentBack?: readonly string[] | undefined
  /** When a name that is new will be read; absent: never. */
  newNames?: string | undefined
}

/** Makes the issues of names that a route rejects; of all of them where the caller prefers that. */
export const unreadIssues = (
  unread: readonly Unread[],
  isPreferred: boolean,
  { unread: rule, sentBack, newNames }: UnreadRules = {},
): Issue[] =>
  unread
    .filter(
      ({ field, meant }) =>
        isPreferred ||
        (!sentBack?.some((name) => field === `/${name}`) &&
          (meant !== undefined || rule !== 'ignored')),
    )
    .map(({ field, meant, value, reason = describeReason(newNames) }) => ({
      field,
      code: 'validation_failed',
      isUnwanted: true,
      message: `${field} must be absent, because ${reason}${meant === undefined ? '' : `; did you mean ${meant}?`}${got(field, value)}`,
    }))

const describeReason = (newNames: string | undefined): string =>
  `nothing reads it${newNames === undefined ? '' : ` (${newNames})`}`

/** Shows a value, unless its name may be the name of a secret. */
const got = (field: string, value: unknown): string =>
  /tok|secret|pass|key|auth|access/i.test(field) ? '' : ` (got ${shown(value)})`

/** The value of the header Ignored-Fields, in so many characters at most; undefined without any. */
export const describeUnread = (unread: readonly Unread[], max = 1024): string | undefined => {
  const names = unread.map(({ field }) => encodeURI(field).replaceAll(',', '%2C'))
  let text = ''
  for (const name of names) {
    const longer = text === '' ? name : `${text}, ${name}`
    if (longer.length > max - ', ...'.length) return text === '' ? '...' : `${text}, ...`
    text = longer
  }
  return text === '' ? undefined : text
}
