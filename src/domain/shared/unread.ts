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
const MOST = 100

/** Lists the members of a body that its schema does not name; not those that are null, which count as absent. */
export const listUnread = (schema: TSchema, body: unknown): Unread[] => {
  const found: Unread[] = []
  const visit = (value: unknown, rule: SchemaNode | undefined, at: string): void => {
    if (rule === undefined || isUnruled(rule) || typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      if (found.length === MOST) return
      const inner = Array.isArray(value) ? rule.items : memberRule(rule, name)
      if (inner) {
        if (typeof member === 'object') visit(member, inner, at + toPointer([name]))
      } else if (rule.properties && member !== null) {
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
  const names = [...new Set(query.keys())].filter((name) => !known.includes(name)).slice(0, MOST)
  return names.map((name) => {
    const near = findMeant(name, known)
    return { field: `?${name}`, meant: near && `?${near}`, value: query.get(name) }
  })
}

/** Words shorter than this differ by a letter although they mean something else. */
const LEAST_LENGTH = 5

/** Members of one family of tasks that callers send to the other. */
const OTHER_FAMILY: Partial<Record<string, string>> = {
  callbackurl: 'webhook_url',
  webhookurl: 'callback_url',
}

/** Finds the known name that differs by case, `_`, `-` or one typing error, or that is the other family's. */
const findMeant = (name: string, known: readonly string[]): string | undefined => {
  const plain = plainOf(name)
  const other = OTHER_FAMILY[plain]
  return (
    known.find((one) => plainOf(one) === plain) ??
    known.find((one) => one === other) ??
    (plain.length < LEAST_LENGTH
      ? undefined
      : known.find((one) => distance(plainOf(one), plain) === 1))
  )
}

const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '')

/** Makes the issues of names that were meant otherwise; of all of them where the caller prefers strict handling. */
export const unreadIssues = (unread: readonly Unread[], isStrict: boolean): Issue[] =>
  unread
    .filter(({ meant }) => isStrict || meant !== undefined)
    .map(({ field, meant, value, reason = 'nothing reads it' }) => ({
      field,
      code: 'validation_failed',
      message: `${field} must be absent, because ${reason}${meant === undefined ? '' : `; did you mean ${meant}?`}${got(field, value)}`,
    }))

/** Shows a value, but not that of a name that may be one of a secret. */
const got = (field: string, value: unknown): string =>
  /tok|secret|pass|key|auth|access/i.test(field) ? '' : ` (got ${shown(value)})`

/** The value of the header Ignored-Fields, in so many characters at most; undefined without any. */
export const describeUnread = (unread: readonly Unread[], most = 1024): string | undefined => {
  const names = unread.map(({ field }) => encodeURI(field).replaceAll(',', '%2C'))
  let text = ''
  for (const name of names) {
    const longer = text === '' ? name : `${text}, ${name}`
    if (longer.length > most - ', ...'.length) return text === '' ? '...' : `${text}, ...`
    text = longer
  }
  return text === '' ? undefined : text
}
