import { readFile } from 'node:fs/promises'

import { Type, type Static } from 'typebox'

import { listUnread, unreadIssues } from '../domain/unread.ts'
import { makeValidator } from '../domain/validate.ts'
import { OperatorError } from '../process/operator-error.ts'

const others = (pattern: string, expectation: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: Type.String({ pattern, 'x-expectation': expectation }),
    default: {},
  })

const WORD = ['^(?!__proto__$)[^\\u0000-\\u0020]+$', 'a name without blanks'] as const

const Kinds = Type.Object({
  paths: others('^[\\w.~-]+$', 'one segment of a path'),
  query: others(...WORD),
  members: others(...WORD),
  values: others(...WORD),
  headers: others('^[A-Za-z0-9-]+$', 'the name of a header'),
})
export const KINDS = Object.keys(Kinds.properties) as (keyof typeof Kinds.properties)[]

/** Other names on the wire, each by the name of the interface that it stands for. */
const AliasTable = Type.Object({ $comment: Type.Optional(Type.String()), ...Kinds.properties })
export type AliasTable = Static<typeof AliasTable>

/** Reads the table of WIRE_ALIASES. @throws an OperatorError that lists all issues of its form */
export const readAliases = async (path: string): Promise<AliasTable | undefined> => {
  if (path === '') return undefined
  try {
    return validateAliases(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    throw new OperatorError(`WIRE_ALIASES=${path} is not usable: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/** @throws an error that lists all issues of the form */
export const validateAliases = (given: unknown): AliasTable => {
  const { value, issues } = makeValidator(AliasTable)(given)
  const all = [...issues, ...unreadIssues(listUnread(AliasTable, given), true)]
  if (all.length > 0) throw new Error(all.map(({ message }) => message).join('; '))
  return value as AliasTable
}

/** Lists all names with their others. */
export const listAll = (table: AliasTable): [string, string][] =>
  KINDS.flatMap((kind) => Object.entries(table[kind]))

/** The value of a member that an object has itself. */
export const own = <Value>(object: Record<string, Value> | undefined, name: string) =>
  object && Object.hasOwn(object, name) ? object[name] : undefined

/** Makes what finds the names that stand for one: the other in its place, or beside it. */
export const makePut =
  (names: Record<string, string>, isBoth: boolean) =>
  <Name>(name: Name): (Name | string)[] => {
    const other = own(names, String(name))
    return other === undefined ? [name] : isBoth ? [name, other] : [other]
  }

/** Puts the other names into the path of a route; undefined when it has none. */
export const renamePath = ({ paths }: AliasTable, path: string): string | undefined => {
  const renamed = path.split('/').map((one) => own(paths, one) ?? one)
  return renamed.join('/') === path ? undefined : renamed.join('/')
}
