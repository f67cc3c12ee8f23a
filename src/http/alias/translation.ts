import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

import { ApiError } from '../../domain/shared/errors.ts'
import type { Unread } from '../../domain/shared/unread.ts'
import type { SchemaNode } from '../../domain/shared/validate.ts'
import type { JsonResponse, Route } from '../route.ts'
import { own, rename, type Way } from './rename.ts'
import { listAll, renamePath, type AliasTable } from './table.ts'

/** Names of one request and its response. */
export interface Translation {
  /** Puts the names of the interface into the query of a target, and into a body. */
  target(target: string): string
  body<Value>(value: Value): Value
  /** The headers of the request, with ETags as the handlers know them. */
  headers(given: IncomingHttpHeaders): IncomingHttpHeaders
  /** Names fields as the caller does, and adds those that count for nothing beside their other name. */
  unread(found: readonly Unread[]): Unread[]
  error(error: unknown): unknown
  response(result: JsonResponse): JsonResponse
}

/**
 * Makes what opens the requests of a route. On a path with other names a caller gets those alone; where the path has none,
 * both. Undefined for a route in which nothing has another name.
 */
export const makeOpen = (route: Route, table: AliasTable) => {
  const isBoth = renamePath(table, route.path) === undefined
  const all = listAll(table)
  const ruled = (schema: object | undefined): SchemaNode[] => {
    const text = JSON.stringify(schema) ?? ''
    return all.some(([name]) => text.includes(`"${name}"`)) ? [schema as SchemaNode] : []
  }
  const responses = new Map(
    Object.entries(route.responses).map(([status, { schema, mediaType }]) => [
      Number(status),
      mediaType === undefined ? ruled(schema) : [],
    ]),
  )
  const places = { query: ruled(route.query), body: ruled(route.body?.schema), responses }
  const found = [places.query, places.body, ...responses.values()].flat()
  if (isBoth && found.length === 0) return undefined
  const mark = `.${createHash('sha256').update(JSON.stringify(table)).digest('hex').slice(0, 8)}`
  return (isNamed: boolean): Translation | undefined => {
    if (!isBoth && !isNamed) return undefined
    const used = new Map(isBoth ? [] : all)
    return { ...toKnown(places, table, used), ...toOthers(places, table, { isBoth, mark, used }) }
  }
}

/** Schemas of a route that have other names; what has none is not read through. */
interface Places {
  query: SchemaNode[]
  body: SchemaNode[]
  responses: ReadonlyMap<number, SchemaNode[]>
}

type Used = Map<string, string>

const back = (names: Record<string, string>) => {
  const known = new Map(Object.entries(names).map(([name, other]) => [other, name]))
  return (name: string): string => known.get(name) ?? name
}

/**
 * Puts the names of the interface into a request. The other name of a member counts where both are given: a client sends
 * back what it has read, and changes what it knows.
 */
const toKnown = (places: Places, { query, members, values }: AliasTable, used: Used) => {
  const twice: Unread[] = []
  const record = (name: string, other: string): string => {
    if (name !== other) used.set(name, other)
    return name
  }
  const [knownQuery, known, knownWord] = [back(query), back(members), back(values)]
  const word = (value: string) => record(knownWord(value), value)
  const put: Way['put'] = (name, { within, at }) => {
    const other = own(members, name) ?? ''
    if (!Object.hasOwn(within, other)) return [record(known(name), name)]
    const { [name]: value, [other]: counted } = within as Record<string, unknown>
    if (!isDeepStrictEqual(value, counted))
      twice.push({ field: at, meant: undefined, value, reason: `${other} counts` })
    return []
  }
  const text = (value: string) => inWords(value, used)
  return {
    target: (target: string): string => {
      const [path, ...rest] = target.split('?')
      if (rest.length === 0) return target
      const pairs = [...new URLSearchParams(rest.join('?'))].map(
        ([given, value]): [string, string] => {
          const name = record(knownQuery(given), given)
          const rule = own(places.query[0]?.properties, name)
          const isWord = rule?.enum ?? rule?.items?.enum
          return [name, isWord ? value.split(',').map(word).join() : value]
        },
      )
      return `${path}?${new URLSearchParams(pairs).toString()}`
    },
    body: <Value>(value: Value) =>
      rename(value, places.body, { known, put, word, at: '' }) as Value,
    unread: (found: readonly Unread[]) => [
      ...found.map(({ field, meant, ...rest }) => ({
        ...rest,
        field: text(field),
        meant: meant && text(meant),
      })),
      ...twice,
    ],
    error: (error: unknown) => {
      if (!(error instanceof ApiError)) return error
      const { message, details } = error
      return Object.assign(error, { message: text(message), details: details?.map(text) })
    },
  }
}

interface Spoken {
  isBoth: boolean
  /** Ends ETags: a copy with the names of another table, or of none, is an old one. */
  mark: string
  used: Used
}

const toOthers = (
  { responses }: Places,
  { members, values, headers: names }: AliasTable,
  { isBoth, mark, used }: Spoken,
): Pick<Translation, 'headers' | 'response'> => {
  const way: Way = {
    at: '',
    known: (name) => name,
    put: (name, { isList }) => {
      const other = own(members, name)
      // A list of records stands once.
      if (other === undefined || (isBoth && isList)) return [name]
      return isBoth ? [name, other] : [other]
    },
    word: (value) => (isBoth ? value : (own(values, value) ?? value)),
  }
  const others = new Map(Object.entries(names).map(([name, other]) => [name.toLowerCase(), other]))
  const showHeader = ([name, value]: [string, string]): [string, string] => [
    (!isBoth && others.get(name)) || name,
    name === 'etag' ? value.replace(/"$/, `${mark}"`) : inWords(value, used),
  ]
  return {
    headers: ({ 'if-none-match': known, 'if-match': demanded, ...rest }) => ({
      ...rest,
      ...(known !== undefined && { 'if-none-match': readTags(known, mark) }),
      ...(demanded !== undefined && { 'if-match': demanded.replaceAll(`${mark}"`, '"') }),
    }),
    response: ({ headers = {}, ...result }) => ({
      ...result,
      ...showBody(result, (value) => rename(value, responses.get(result.status) ?? [], way)),
      headers: Object.fromEntries(Object.entries(headers).map(showHeader)),
    }),
  }
}

const readTags = (tags: string, mark: string): string =>
  tags
    .split(',')
    .filter((tag) => tag.trim() === '*' || tag.trim().endsWith(`${mark}"`))
    .map((tag) => tag.replace(`${mark}"`, '"'))
    .join()

/** Shows a body, and of a list that is written piece by piece each: its beginning, entries after a comma, its end. */
const showBody = (
  { body, text, more }: JsonResponse,
  show: (value: unknown) => unknown,
): Pick<JsonResponse, 'body' | 'text' | 'more'> => {
  if (text === undefined) return { body: show(body) }
  const showText = (piece: string) => JSON.stringify(show(JSON.parse(piece)))
  if (!more) return { text: showText(text) }
  const start = /^(\{"\w+":)?\[/.exec(text)?.[0] ?? ''
  const end = start.startsWith('{') ? ']}' : ']'
  return { text: showText(text + end).slice(0, -end.length), more: showRest() }

  async function* showRest() {
    for await (const piece of more ?? []) {
      const isEnd = piece.startsWith(']')
      const shown = showText(isEnd ? start + piece : `${start}0${piece}${end}`)
      yield isEnd
        ? shown.slice(shown.indexOf(']'))
        : shown.slice(shown.indexOf('[0') + '[0'.length, -end.length)
    }
  }
}

/** Puts other names into a text, where each stands as a word; the longest first, because a name may begin another. */
export const inWords = (text: string, names: ReadonlyMap<string, string>): string => {
  if (names.size === 0) return text
  const words = [...names.keys()].toSorted((a, b) => b.length - a.length)
  const escaped = words.map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  const pattern = new RegExp(`(?<![\\w-])(?:${escaped.join('|')})(?![\\w-])`, 'g')
  return text.replace(pattern, (name) => names.get(name) ?? name)
}
