import { gzipSync } from 'node:zlib'

import fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

import { resolve } from '../support/contract.ts'
import type { Document, Operation, Parameter } from '../support/contract.ts'
import { damage } from './damage.ts'

/** A request as it goes over the wire, and what is known of it. */
export interface Wire {
  method: string
  /** Path in the OpenAPI document. */
  template: string
  target: string
  bytes: Buffer
  /** It is no good HTTP: it may be rejected before it has a route, or get no response at all. */
  isOdd: boolean
  /** X-Request-Id of its response; undefined when it has another one, too. */
  id: string | undefined
}

/** Things that requests can name: those made before, and those that earlier responses have shown. */
export interface Things {
  host: string
  tokens: readonly string[]
  images: readonly string[]
  urls: readonly string[]
  files: readonly Buffer[]
  personalAccessToken: string
  /** Values by collection and member: `publishers id`. */
  known: Map<string, string[]>
  links: string[]
}

type Limit = 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'minItems'

/** Parts of a schema that values are made by; `format`, `title` and the like say nothing of them. */
interface Schema extends Partial<Record<Limit, number>> {
  type?: string | string[]
  enum?: unknown[]
  pattern?: string
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  allOf?: Schema[]
}

const MAX_KNOWN = 50

/** Remembers what a response shows of the collection that its path names, and the links in it. */
export const learn = ({ known, links, host }: Things, template: string, body: unknown): void => {
  const collection = /\/([\w-]+)\/?$/.exec(template)?.[1] ?? ''
  const items = [body, ...Object.values(Object(body) as object).flat()] as unknown[]
  for (const [name, value] of items.flatMap((item) => Object.entries(Object(item) as object)))
    for (const text of [value].flat() as unknown[]) {
      // What is made for files is left alone.
      if (typeof text !== 'string' || text.startsWith('fuzz')) continue
      if (text.startsWith(`http://${host}/`)) links.push(text.slice(`http://${host}`.length))
      const key = `${collection} ${name.replace('task_id', 'id')}`
      known.set(key, [...(known.get(key) ?? []), text].slice(-MAX_KNOWN))
    }
  links.splice(0, links.length - MAX_KNOWN)
}

/** The parts of a text between bars and ends of lines. */
const split = (text: string): string[] => text.split(/[|\n]/)

/** Texts that break what takes them for something else. */
const NASTY = [
  ...split(`| |..|../../etc/passwd|' or 1=1 --|%|%00|$1|\\|__proto__|constructor|null|NaN|-0|1e400
2026-02-30T25:61:61Z|javascript:alert(1)|data:image/png;base64,|{"a":1}|((((:1.5)|\0|a\0b
00000000-0000-0000-0000-000000000000|http://localhost:1/|https://nowhere.invalid/x
\ud800|\udfff\ud800|\r\u2028X-Injected: 1|\u202e\u200b\ufeff|${'x'.repeat(300)}|${'😀'.repeat(500)}`),
  'x'.repeat(70_000),
]

const nest = (depth: number): unknown =>
  Array.from({ length: depth }).reduce((inner) => [inner], 1 as unknown)

const nasty: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NASTY, null, true, false, [], {}, [null], [[]], { a: {} }),
  fc.constantFrom(nest(63), nest(66), nest(3000), '1'.repeat(6000).split('')),
  fc.constantFrom(-1, 0, 0.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 1e308, 5e-324),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constant(Object.fromEntries([['__proto__', { a: 1 }]])),
)

/** The first mostly, the others so many times of a hundred. */
const mostly = <T>(usual: Arbitrary<T>, ...others: [weight: number, other: Arbitrary<T>][]) => {
  const rare = others.map(([weight, arbitrary]) => ({ weight, arbitrary }))
  const left = rare.reduce((sum, { weight }) => sum - weight, 100)
  return fc.oneof({ weight: left, arbitrary: usual }, ...rare)
}

/** Values of a schema, now and then with something else in place of a part. */
const valuesOf = (schema: Schema, things: Things): Arbitrary<unknown> =>
  mostly(rightOf(schema, things), [2, nasty])

const rightOf = (schema: Schema, things: Things): Arbitrary<unknown> => {
  const { anyOf, allOf, type, minimum: min = -1000, maximum: max = 1000 } = schema
  const either = anyOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : [])
  if (allOf) return rightOf(Object.assign({}, ...allOf) as Schema, things)
  if (either.length > 0) return fc.oneof(...either.map((one) => rightOf(one, things)))
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const edges = fc.constantFrom(min, max, min - 1, max + 1)
  switch (type) {
    case 'integer':
      return mostly(fc.integer({ min, max }), [9, edges])
    case 'number':
      return mostly(fc.double({ min, max, noNaN: true }), [9, edges])
    case 'string':
      return textOf(schema, things)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const { items = {}, minItems: minLength = 0 } = schema
      return fc.array(valuesOf(items, things), { minLength, maxLength: minLength + 3 })
    }
    case 'object':
      return objectOf(schema, things)
    default:
      return nasty
  }
}

const objectOf = (schema: Schema, things: Things): Arbitrary<unknown> => {
  const { properties = {}, required = [], additionalProperties: more } = schema
  if (typeof more === 'object')
    return fc.dictionary(fc.string({ maxLength: 8 }), valuesOf(more, things), { maxKeys: 3 })
  const members = Object.entries(properties).map(([name, member]) => {
    const isToken = name === 'personal_access_token'
    const value = isToken ? fc.constant(things.personalAccessToken) : valuesOf(member, things)
    const absent = fc.constant<unknown>(undefined)
    return [name, mostly(value, [required.includes(name) ? 2 : 80, absent])]
  })
  return fc.record(Object.fromEntries(members) as Record<string, Arbitrary<unknown>>)
}

const textOf = (schema: Schema, { images, urls }: Things): Arbitrary<string> => {
  const { pattern = '', minLength = 0, maxLength = 60 } = schema
  if (pattern.includes('[bB][aA][sS][eE]64')) return fc.constantFrom(...images)
  if (pattern.startsWith('^[hH][tT]')) return fc.constantFrom(...urls)
  const long = fc.constantFrom(maxLength, maxLength + 1).map((length) => 'é'.repeat(length))
  // No text can be made by a pattern that says what may not follow.
  const usual = /^$|\\u0000|\(\?[!=<]/.test(pattern)
    ? fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, 30) })
    : fc.stringMatching(new RegExp(pattern))
  return mostly(usual, [4, long])
}

const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '?'))
const MEMBERS = new Map(
  Object.entries({ hostNodeName: 'name', userId: 'user_id', version: 'version' }),
)
const RAW_PARTS = ['%ff', '%', '%2e%2e', '%2F', 'a%00b', ';', '*', '%C0%AF', 'x'.repeat(3000)]

const pathOf = (template: string, { known }: Things): Arbitrary<string> => {
  const parts = template.split('/').map((part, at, all) => {
    if (!part.startsWith('{')) return fc.constant(part)
    const key = `${all[at - 1]} ${MEMBERS.get(part.slice(1, -1)) ?? 'id'}`
    const one = fc.nat().map((at) => {
      const values = known.get(key) ?? ['unknown']
      return encode(values[at % values.length] ?? '')
    })
    return mostly(one, [5, fc.constantFrom(...NASTY.map(encode), ...RAW_PARTS)])
  })
  return fc.tuple(...parts).map((made) => made.join('/'))
}

const queryOf = (parameters: readonly Parameter[], things: Things): Arbitrary<string> => {
  const given = parameters.map(({ name, schema }) => {
    const toText = (value: unknown): string =>
      typeof value === 'string' ? value : (JSON.stringify(value) ?? '').slice(0, 5000)
    const value = valuesOf(schema, things).map((value) =>
      [value]
        .flat(1)
        .map((item) => `&${name}=${encode(toText(item))}`)
        .join(''),
    )
    const odd = fc.constantFrom('', '=&$=', '[a]=%ff', `=${'x'.repeat(9000)}`)
    const spelled = odd.map((rest) => `&${name}${rest.replace('$', name)}`)
    return mostly(fc.constant(''), [28, value], [2, spelled])
  })
  return fc.tuple(...given).map((parts) => parts.join('').replace('&', '?'))
}

/** One of the links that the service has signed, sometimes with a character changed. */
const linkOf = ({ links }: Things, prefix: string): Arbitrary<string> =>
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 500 })).map(([at, place]) => {
    const link = (links[at % links.length] ?? '/').replace(/^\/\w+\//, prefix)
    return place < link.length ? `${link.slice(0, place)}x${link.slice(place + 1)}` : link
  })

/** Headers, right and wrong, that a request may have beside those that it needs. */
const HEADERS = [
  ...split(`If-None-Match: *|If-None-Match: "x"|If-None-Match: "|If-Match: *|If-Match: "0"
If-Match: "1", W/"2"|If-Match: "99999999999999999999"|Prefer: wait=1|Prefer: wait=-1
Last-Event-ID: 0|Last-Event-ID: \xff|Range: bytes=0-0|Range: bytes=5-2|Range: bytes=-1
Range: bytes=0-,0-|Range: bytes=99999999999999999999-|If-Range: "x"|X-API-KEY: |X-API-KEY: x
Content-Digest: sha-256=:AAAA:|Content-Digest: md5=x|Content-Encoding: gzip|Content-Encoding: x
Expect: 100-continue|Expect: 200-maybe|Accept: text/html|Origin: null|Origin: \xff|Upgrade: h2c
Access-Control-Request-Method: POST|X-Forwarded-For: x, ::1|X-Request-Id: \xe9|Cookie: a=b
traceparent: 00-0-0-00|Idempotency-Key: |Idempotency-Key: ""|Idempotency-Key: "a
Idempotency-Key: \xe9|Authorization: Basic YTpi|Connection: upgrade|Content-Type: \xff/x`),
  ...split('X-Request-Id|If-None-Match|X-API-KEY|Idempotency-Key').map(
    (name) => `${name}: ${'x'.repeat(9000)}`,
  ),
  `X-Long: ${'x'.repeat(17_000)}`,
]

const BAD_TOKENS = ['', 'x.y.z', 'x'.repeat(9000), '\xff']

const headersOf = ({ tokens }: Things): Arbitrary<string[]> => {
  const token = mostly(fc.constantFrom(...tokens), [3, fc.constantFrom(...BAD_TOKENS)])
  const some = fc.array(fc.constantFrom(...HEADERS), { maxLength: 2 })
  const key = fc.nat({ max: 40 }).map((key) => [`Idempotency-Key: key-${key}`])
  const more = mostly(fc.constant<string[]>([]), [20, key], [30, some])
  return fc.tuple(token, more).map(([token, more]) => [`Authorization: Bearer ${token}`, ...more])
}

type Content = readonly [type: string, body: string | Buffer]

const JSON_TYPE = 'application/json'
const FORM =
  '--x\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\nPNG\r\n--x--\r\n'
const BROKEN = [
  ...split('| |null|[]|5|"x"|{|{}|{"a":}'),
  '['.repeat(100_000),
  '{"a":'.repeat(50_000),
  `{"a":"${'x'.repeat(3_000_000)}"}`,
  FORM,
  gzipSync(Buffer.alloc(2_000_000)),
]

/** Bodies that are no JSON of this route, or not what they are said to be. */
const OTHERS: readonly Content[] = [
  ...BROKEN.map((body) => [JSON_TYPE, body] as const),
  [`${JSON_TYPE}; charset=latin1`, '{}'],
  ['multipart/form-data; boundary=x', FORM],
  ['multipart/form-data', FORM.repeat(1000)],
  ['application/x-www-form-urlencoded', 'image=x&a[b]=c'],
  ['text/xml', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
]

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Pieces that should not stand in a text of JSON. */
const pieces = fc.constantFrom(
  ...split(`NaN|1e400|"a":1,"a":2,|"__proto__":{},|\\ud800|\\u0000|\\x|,|}|"|/**/|\r|\0
\xff|\xc0\xaf|\xed\xa0\x80|\xef\xbb\xbf|${'['.repeat(70)}`).map(latin1),
)

const contentOf = ({ requestBody }: Operation, document: Document, things: Things) => {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const other = fc.constantFrom<Content | undefined>(...OTHERS)
  if (type === undefined) return mostly(fc.constant(undefined), [2, other])
  if (type !== JSON_TYPE)
    return fc.constantFrom(...things.files).map((body) => [type, body] as const)
  const examples = Object.values(media?.examples ?? {}).map(({ value }): unknown =>
    JSON.parse(JSON.stringify(value ?? {}).replaceAll(/https:\/\/[\w.]+\//g, things.urls[0] ?? '')),
  )
  const right = valuesOf(resolve(document, media?.schema ?? {}) as Schema, things)
  const whole = mostly(right, [10, fc.constantFrom(...examples, {})]).map((value) =>
    Buffer.from(JSON.stringify(value) ?? ''),
  )
  const spoilt = whole.chain((text) => damage([text], pieces))
  const body = mostly(whole, [17, spoilt]).map((bytes) => [type, bytes] as const)
  return mostly<Content | undefined>(body, [5, other])
}

/** Ways to spell a request that are no good HTTP: what of its head is replaced by what. */
const SPELLINGS = Object.entries({
  ' HTTP/1.1': '| HTTP/1.0| HTTP/2.0|#a HTTP/1.1|  HTTP/1.1|\tHTTP/1.1',
  ' /': ' http://kiln/| http://[/| x',
  'Host: ': 'Ghost: |Host: other\r\nHost: |Host : |\x16\x03\x01Host: ',
  'Authorization: ': `Authorization: Bearer x\r\n$&|${'X: y\r\n'.repeat(1200)}$&`,
  'X-Request-Id: ':
    'X: a\r\n b\r\n$&|X: a\0b\r\n$&|X : a\r\n$&|: a\r\n$&|X: a\rb\r\n$&|X: a\nb\r\n$&',
  'Content-Type: ': 'Transfer-Encoding: chunked\r\n$&|Transfer-Encoding: gzip, chunked\r\n$&',
  'Content-Length: ': 'Content-Length: 7\r\n$&|$&9|$&-|$&0x|$&99999999999999999999|Length: ',
  [`${JSON_TYPE}\r\n`]: '$&Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n|\r\n\r\n',
}).flatMap(([what, by]) => by.split('|').map((by) => [what, by] as const))

const METHODS = 'HEAD|OPTIONS|GET|POST|PUT|DELETE|PATCH|TRACE|FETCH|CONNECT|g'.split('|')
const NO_METHODS = new Set(['FETCH', 'CONNECT', 'g'])

/** The requests of a service by its OpenAPI document: right ones, and those with something wrong in any part. */
export const makeRequests = (document: Document, things: Things): Arbitrary<Wire> => {
  const all = Object.entries(document.paths).flatMap(([template, operations]) =>
    Object.entries(operations).map(([name, operation]) => {
      const query = operation.parameters.filter((parameter) => parameter.in === 'query')
      const own = fc
        .tuple(pathOf(template, things), queryOf(query, things))
        .map((parts) => parts.join(''))
      const prefix = /^\/(uploads|files|archives)\//.exec(template)?.[0]
      return fc
        .record({
          template: fc.constant(template),
          method: mostly(fc.constant(name.toUpperCase()), [3, fc.constantFrom(...METHODS)]),
          target: prefix === undefined ? own : mostly(own, [70, linkOf(things, prefix)]),
          headers: headersOf(things),
          content: contentOf(operation, document, things),
          isChunked: mostly(fc.constant(false), [5, fc.constant(true)]),
          spelling: mostly(fc.constant(undefined), [6, fc.constantFrom(...SPELLINGS)]),
          id: fc.nat().map((number) => `fuzz-${number}`),
          host: fc.constant(things.host),
        })
        .map(compose)
    }),
  )
  return fc.oneof(...all)
}

interface Parts extends Pick<Wire, 'template' | 'method' | 'target'> {
  headers: string[]
  content: Content | undefined
  isChunked: boolean
  spelling: (typeof SPELLINGS)[number] | undefined
  id: string
  host: string
}

const compose = ({ headers, content, isChunked, spelling, id, host, ...wire }: Parts): Wire => {
  const [type, text = ''] = content ?? []
  const body = typeof text === 'string' ? latin1(text) : text
  const size = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const described = type === undefined ? [] : [`Content-Type: ${type}`, size]
  const start = [`${wire.method} ${wire.target} HTTP/1.1`, `Host: ${host}`, `X-Request-Id: ${id}`]
  const head = `${[...start, ...headers, ...described].join('\r\n')}\r\n\r\n`
  const chunk = [latin1(`${body.length.toString(16)};a="b"\r\n`), body, latin1('\r\n')]
  const chunks = [...(body.length > 0 ? chunk : []), latin1('0\r\nX-Trailer: 1\r\n\r\n')]
  return {
    ...wire,
    bytes: Buffer.concat([
      latin1(spelling ? head.replace(...spelling) : head),
      ...(content && isChunked ? chunks : [body]),
    ]),
    isOdd: spelling !== undefined || NO_METHODS.has(wire.method),
    id: spelling || headers.some((line) => line.startsWith('X-Request-Id')) ? undefined : id,
  }
}
