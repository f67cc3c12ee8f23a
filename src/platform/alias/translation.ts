import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

import { ApiError } from '../domain/errors.ts'
import type { Unread } from '../domain/unread.ts'
import type { SchemaNode } from '../domain/validate.ts'
import type { ResponseToSave } from '../process/idempotency.ts'
import { rename, type Way } from './rename.ts'
import { listAll, makePut, own, renamePath, type AliasTable } from './table.ts'

/** Names of one request and its response. */
export type Translation = ReturnType<typeof readNames> & ReturnType<typeof showNames>

/** Parts of a route, or of another way to make something, that may have other names. */
export interface Named {
  path: string
  query?: object | undefined
  body?: { schema: object } | undefined
  responses?: Readonly<Record<number, { schema?: object; mediaType?: string }>>
}

/** A response whose body is JSON, or the JSON's text, whose rest may follow. */
type Shown = ResponseToSave & { more?: AsyncIterable<string> }

/** Schemas of a route that have other names; what has none is not read through. */
interface Places {
  query: SchemaNode[]
  body: SchemaNode[]
  responses: ReadonlyMap<number, SchemaNode[]>
  /** The path has no other name: callers get both. */
  isBoth: boolean
  /** Ends ETags: a copy with the names of another table, or of none, is an old one. */
  mark: string
}

/** Other names of the request, by the interface's names, for all that its caller is shown. */
type Used = Map<string, string>

/**
 * Makes what opens the requests of a route. On a path with other names a caller gets those alone; where the path has none,
 * both. Undefined for a route in which nothing has another name.
 */
export const makeOpen = (route: Named, table: AliasTable) => {
  const all = listAll(table)
  const ruled = (schema: object | undefined): SchemaNode[] => {
    const text = JSON.stringify(schema) ?? ''
    return all.some(([name]) => text.includes(`"${name}"`)) ? [schema as SchemaNode] : []
  }
  const responses = Object.entries(route.responses ?? {}).map(
    ([status, { schema, mediaType }]) =>
      [Number(status), mediaType === undefined ? ruled(schema) : []] as const,
  )
  const isBoth = renamePath(table, route.path) === undefined
  const [query, body] = [ruled(route.query), ruled(route.body?.schema)]
  if (isBoth && [query, body, ...responses.map(([, rules]) => rules)].flat().length === 0)
    return undefined
  const mark = `.${createHash('sha256').update(JSON.stringify(table)).digest('hex').slice(0, 8)}`
  const places = { query, body, responses: new Map(responses), isBoth, mark }
  return (isNamed: boolean): Translation | undefined => {
    if (!isBoth && !isNamed) return undefined
    const used: Used = new Map(isBoth ? [] : all)
    return { ...readNames(places, table, used), ...showNames(places, table, used) }
  }
}

/** Makes the way back from other names; it records each other name that a request has. */
const back = (names: Record<string, string>, used: Used) => {
  const known = new Map(Object.entries(names).map(([name, other]) => [other, name]))
  return (given: string): string => {
    const name = known.get(given)
    if (name !== undefined) used.set(name, given)
    return name ?? given
  }
}

/**
 * Puts the names of the interface into a request. The other name of a member counts where both are given: a client sends
 * back what it has read, and changes what it knows.
 */
const readNames = ({ query, body }: Places, table: AliasTable, used: Used) => {
  const twice: Unread[] = []
  const [parameter, known, word] = [table.query, table.members, table.values].map((names) =>
    back(names, used),
  ) as [(name: string) => string, Way['known'], Way['word']]
  const put: Way['put'] = (name, { within, at }) => {
    const other = own(table.members, name) ?? ''
    if (!Object.hasOwn(within, other)) return [known(name)]
    const { [name]: value, [other]: counted } = within as Record<string, unknown>
    if (!isDeepStrictEqual(value, counted))
      twice.push({ field: at, meant: undefined, value, reason: `${other} counts` })
    return []
  }
  const text = (value: string): string => inWords(value, used)
  const readPair = ([given, value]: [string, string]): [string, string] => {
    const name = parameter(given)
    const rule = own(query[0]?.properties, name)
    const isWord = rule?.enum ?? rule?.items?.enum
    return [name, isWord ? value.split(',').map(word).join() : value]
  }
  return {
    /** Puts the names of the interface into the query of a target. */
    target(target: string): string {
      const [path, ...rest] = target.split('?')
      const pairs = [...new URLSearchParams(rest.join('?'))].map(readPair)
      return rest.length === 0 ? target : `${path}?${new URLSearchParams(pairs).toString()}`
    },
    body: <Value>(value: Value) => rename(value, body, { known, put, word, at: '' }) as Value,
    /** Names fields as the caller does, and adds fields that count for nothing beside their other name. */
    unread: (found: readonly Unread[]): Unread[] => [
      ...found.map((one) => ({
        ...one,
        field: text(one.field),
        meant: one.meant && text(one.meant),
      })),
      ...twice,
    ],
    error: (error: unknown): unknown =>
      error instanceof ApiError
        ? Object.assign(error, { message: text(error.message), details: error.details?.map(text) })
        : error,
  }
}

const showNames = ({ responses, isBoth, mark }: Places, table: AliasTable, used: Used) => {
  const [member, word] = [makePut(table.members, isBoth), makePut(table.values, false)]
  const way: Way = {
    at: '',
    known: (name) => name,
    // A list of records stands once.
    put: (name, { isList }) => (isBoth && isList ? [name] : member(name)),
    word: (value) => (isBoth ? value : word(value).join()),
  }
  const others = new Map(
    Object.entries(table.headers).map(([name, other]) => [name.toLowerCase(), other]),
  )
  const showHeader = ([name, value]: [string, string]): [string, string] => [
    (!isBoth && others.get(name)) || name,
    name === 'etag' ? value.replace(/"$/, `${mark}"`) : inWords(value, used),
  ]
  return {
    /** The headers of the request, with ETags as the handlers know them: one without these names is of something else. */
    headers: ({ ...headers }: IncomingHttpHeaders): IncomingHttpHeaders => {
      for (const name of ['if-none-match', 'if-match'] as const)
        if (headers[name] !== undefined)
          headers[name] = headers[name].replaceAll(/(\.[0-9a-f]{8})?"(?=\s*(?:,|$))/g, (_, end) =>
            end === mark ? '"' : '.old"',
          )
      return headers
    },
    response: ({ headers = {}, ...result }: Shown): Shown => ({
      ...result,
      ...showBody(result, (value) => rename(value, responses.get(result.status) ?? [], way)),
      headers: Object.fromEntries(Object.entries(headers).map(showHeader)),
    }),
  }
}

/** Shows a body, and of a list that is written piece by piece each: its beginning, entries after a comma, its end. */
const showBody = (
  { body, text, more }: Shown,
  show: (value: unknown) => unknown,
): Pick<Shown, 'body' | 'text' | 'more'> => {
  if (text === undefined) return { body: show(body) }
  const showText = (piece: string) => JSON.stringify(show(JSON.parse(piece)))
  if (!more) return { text: showText(text) }
  const start = /^(\{"\w+":)?\[/.exec(text)?.[0] ?? ''
  const end = start.startsWith('{') ? ']}' : ']'
  return { text: showText(text + end).slice(0, -end.length), more: showRest(more) }

  async function* showRest(pieces: AsyncIterable<string>) {
    for await (const piece of pieces)
      yield piece.startsWith(']')
        ? showText(start + piece).replace(/^[^\]]*/, '')
        : showText(`${start}0${piece}${end}`)
            .slice(0, -end.length)
            .replace(/^[^[]*\[0/, '')
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
