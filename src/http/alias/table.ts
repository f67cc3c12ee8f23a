import { readFile } from 'node:fs/promises'

import { Type, type Static } from 'typebox'

import { isObject } from '../../domain/shared/is-object.ts'
import { findMeant, listUnread, unreadIssues } from '../../domain/shared/unread.ts'
import { makeValidator } from '../../domain/shared/validate.ts'
import { OperatorError } from '../../process/operator-error.ts'
import { HEADERS } from '../openapi/headers.ts'
import type { Route } from '../route.ts'

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
const KINDS = Object.keys(Kinds.properties) as (keyof typeof Kinds.properties)[]

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

/** @throws an OperatorError that lists all names that no route has, and other names that mean two things */
export const validateNames = (table: AliasTable, routes: readonly Route[]): void => {
  const { images, ...known } = listNames(routes)
  const issues = KINDS.flatMap((kind) => {
    const given = Object.entries(table[kind])
    return given.flatMap(([name, other], at) => {
      const twin = given.findIndex(([, one]) => one === other)
      const near = findMeant(name, [...known[kind]])
      const rules: [boolean, string][] = [
        [!known[kind].has(name), `names nothing here${near ? `; did you mean ${near}?` : ''}`],
        [kind === 'members' && images.has(name), 'holds a picture, which must keep its name'],
        [known[kind].has(other), `must not be ${other}, which is a name itself`],
        [twin < at, `must not be ${other} like ${given[twin]?.[0]}`],
      ]
      return rules.filter(([broken]) => broken).map(([, rule]) => `/${kind}/${name} ${rule}`)
    })
  })
  if (issues.length > 0)
    throw new OperatorError(`the table in WIRE_ALIASES is not usable: ${issues.join('; ')}`)
}

/** Lists every name that the routes have, by kind, and the members of bodies that hold pictures. */
const listNames = (routes: readonly Route[]) => {
  const [members, values] = [new Set<string>(), new Set<string>()]
  JSON.stringify(routes, (key, value: unknown) => {
    if (key === 'properties' && isObject(value))
      Object.keys(value).forEach((one) => members.add(one))
    if (key === 'enum' && Array.isArray(value)) value.forEach((word) => values.add(String(word)))
    return value
  })
  return {
    paths: new Set(routes.flatMap(({ path }) => path.split('/').filter((one) => /^\w/.test(one)))),
    query: new Set(routes.flatMap(({ query }) => Object.keys(query?.properties ?? {}))),
    members,
    values,
    headers: new Set<string>(Object.keys(HEADERS)),
    images: new Set(routes.flatMap(({ body }) => body?.images ?? []).map((at) => at.split('/')[1])),
  }
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
