import { distance } from 'fastest-levenshtein'
import type { TSchema } from 'typebox'

import { shown } from './errors.ts'
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
    return { field: `?${name}`, meant: near && `?${near}`, value: query.get(name) }
  })
}

/** Words shorter than this differ by a letter, and are part of another, although they mean something else. */
const LEAST_LENGTH = 5

/** Names of one thing on different routes, or of different families of tasks. */
const SAME_THING: readonly (readonly string[])[] = [
  ['callbackurl', 'webhookurl'],
  ['state', 'states', 'status', 'statuses'],
  ['limit', 'pagesize', 'perpage'],
  ['q', 'query', 'search'],
  ['ids', 'taskids'],
  ['priority', 'kilnpriority'],
  ['createdafter', 'since', 'from'],
  ['createdbefore', 'until', 'to'],
]

/**
 * Finds the known name that was meant: it differs by case, `_`, `-` or one typing error (two letters in the wrong order
 * are one error), or another route has it for the same thing. Else it is the only known name that the given name is a
 * part of, such as `overlap` of `overlap_seconds`.
 */
export const findMeant = (name: string, known: readonly string[]): string | undefined => {
  const plain = plainOf(name)
  const same = SAME_THING.find((names) => names.includes(plain))
  const near =
    known.find((one) => plainOf(one) === plain) ?? known.find((one) => same?.includes(plainOf(one)))
  if (near !== undefined || plain.length < LEAST_LENGTH) return near
  const parts = known.filter((one) => isPart(name, one))
  return (
    known.find((one) => isOneSlip(plainOf(one), plain)) ??
    (parts.length === 1 ? parts[0] : undefined)
  )
}

/** True where one letter is wrong, missing or too many, or two neighbours have changed places. */
export const isOneSlip = (one: string, other: string): boolean => {
  if (distance(one, other) === 1) return true
  const at = [...one].findIndex((letter, index) => letter !== other[index])
  const swapped = `${one.slice(0, at)}${one.charAt(at + 1)}${one.charAt(at)}${one.slice(at + 2)}`
  return at >= 0 && swapped === other
}

/** True where one name begins another, or is some of its words. */
const isPart = (name: string, whole: string): boolean =>
  plainOf(whole).startsWith(plainOf(name)) || wordsOf(whole).includes(wordsOf(name))

const wordsOf = (name: string): string =>
  `_${name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|-/g, '_').toLowerCase()}_`

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Rules of a route for what nothing reads. */
interface UnreadRules {
  /** Only names that were meant otherwise are rejected. */
  unread?: 'ignored' | undefined
  /** Members of the body that are not. */
  sentBack?: readonly string[] | undefined
}

/** Makes the issues of names that a route rejects; of all of them where the caller prefers that. */
export const unreadIssues = (
  unread: readonly Unread[],
  isPreferred: boolean,
  { unread: rule, sentBack }: UnreadRules = {},
): Issue[] =>
  unread
    .filter(
      ({ field, meant }) =>
        isPreferred ||
        (!sentBack?.some((name) => field === `/${name}`) &&
          (meant !== undefined || rule !== 'ignored')),
    )
    .map(({ field, meant, value, reason = 'nothing reads it' }) => ({
      field,
      code: 'validation_failed',
      isUnwanted: true,
      message: `${field} must be absent, because ${reason}${meant === undefined ? '' : `; did you mean ${meant}?`}${got(field, value)}`,
    }))

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
