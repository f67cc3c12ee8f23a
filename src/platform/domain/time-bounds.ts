import { Type, type TSchema } from 'typebox'

import { isObject } from './is-object.ts'
import { toPointer } from './pointer.ts'
import { makeIssue, type Issue, type SchemaNode } from './validate.ts'

const bound = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description }))

/** Makes the members of a filter by time, which has two words for each bound. @param what of the filter, in words */
export const timeBounds = (what: string) => ({
  from: bound(`${what} at this time or later.`),
  to: bound(`${what} before this time.`),
  since: bound('The same as `from`.'),
  until: bound('The same as `to`.'),
})

/** Bounds as a request has them. */
export interface TimeBounds {
  from?: string
  to?: string
  since?: string
  until?: string
}

/** Reads bounds that their schema has passed: the first is included, the last is not. */
export const readBounds = ({ from, to, since, until }: TimeBounds) => ({
  from: readBound(from ?? since),
  to: readBound(to ?? until),
})

const readBound = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : parseListTime(text)

const PAIRS = [
  ['since', 'from'],
  ['until', 'to'],
] as const

/** Member that a choice of everything needs: an empty filter may be one that was meant otherwise. */
export const ALL = Type.Optional(
  Type.Boolean({ description: 'True where nothing else is given: everything is meant.' }),
)

export const ALL_FIELD = '/all'

/** Rejects a choice that is empty and does not say so, or says so and is not. @param at its pointer, empty for the body */
export const validateAll = (choice: object, all: unknown, at = ''): Issue[] => {
  const isEmpty = Object.keys(choice).length === 0
  if (isEmpty && all !== true)
    return [
      makeIssue(
        ALL_FIELD,
        `must be true where ${at || 'the body'} names nothing, which means everything`,
      ),
    ]
  if (isEmpty || all === undefined) return []
  return [makeIssue(ALL_FIELD, `must be absent beside a filter, got both`, 'incompatible_fields')]
}

/** Finds members that are null or empty in a body which may choose all: taken as absent, they would choose more. */
export const validateBlanks = (schema: SchemaNode, body: unknown): Issue[] =>
  schema.properties?.['all'] ? listBlanks(schema, body, '') : []

/** Goes by the names of the schema, because a body may hold a million. */
const listBlanks = ({ properties = {} }: SchemaNode, body: unknown, at: string): Issue[] => {
  if (!isObject(body)) return []
  return Object.entries(properties).flatMap(([name, rule]) => {
    const [field, value] = [at + toPointer([name]), body[name]]
    return value === null || value === ''
      ? makeIssue(field, `must be absent or have a value, got ${JSON.stringify(value)}`)
      : listBlanks(rule, value, field)
  })
}

/** True of a schema that has them. */
export const hasBounds = (schema: TSchema | undefined): boolean => {
  const { properties = {} }: { properties?: object } = schema ?? {}
  return PAIRS.flat().every((name) => name in properties)
}

/** Makes the rule against two words for one bound of a filter. @param at where they are: `?`, or a pointer with its last slash */
export const makeValidateBounds = (
  schema: TSchema | undefined,
  at: string,
): ((given: object) => Issue[]) => {
  const pairs = hasBounds(schema) ? PAIRS : []
  return (given) =>
    pairs.flatMap(([word, other]) =>
      word in given && other in given
        ? [
            makeIssue(
              `${at}${word}`,
              `must be absent beside ${at}${other}, which means the same, got both`,
              'incompatible_fields',
            ),
          ]
        : [],
    )
}

/**
 * The instant of a filter that its schema has passed. A leap second, which `Date` does not know, counts as the one before
 * it. It lies between 1970 and 9999, where all tasks are: PostgreSQL reads neither year 0 nor year 10000, to
 * which an offset may lead.
 */
export const parseListTime = (text: string): Date => {
  const time = Date.parse(text.replace(/:60(?=\D)/, ':59'))
  return new Date(Math.min(LATEST, Math.max(EARLIEST, time)))
}

const EARLIEST = 0
const LATEST = Date.UTC(9999, 0)
