import { quotaOf } from '../access/limiter.ts'
import type { Route } from '../route.ts'

type Json = Record<string, unknown>

const text = (description: string): Json => ({ description, schema: { type: 'string' } })

const whole = (description: string, minimum: number, maximum?: number): Json => ({
  description,
  schema: { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) },
})

/** Every header of a response that callers may rely on. */
export const HEADERS = {
  'X-Request-Id': text('Names the request in the log: the caller’s own id when it is well-formed.'),
  'Idempotent-Replayed': {
    description: 'Present when the response is the stored one of the first request with this key.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': whole(
    'Seconds after which it is useful to repeat the request, or to read again.',
    0,
  ),
  'RateLimit-Policy': text('The quota of the route: its name, requests `q` in `w` seconds.'),
  RateLimit: text('What is left of it: `r` requests now, more after `t` seconds.'),
  'WWW-Authenticate': { description: 'Always Bearer.', schema: { type: 'string' } },
  'Preference-Applied': text(
    '`wait=N` when the response waited for a change, N being 60 where the request asked for more; `handling=strict` when nothing was ignored.',
  ),
  'Ignored-Fields': text(
    'Fields of the request that nothing reads, or that take no effect in it: JSON Pointers, and `?name` of the query; `Prefer: handling=strict` makes each of them a 400. `Prefer: wait` where its value is no number from 1 on; beside `handling=strict` it is a 400.',
  ),
  Location: {
    description: 'Where to go on: the status route of a task.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  'X-Credits-Used': whole('Credits charged and not returned; 0 for images.', 0),
  'X-Estimated-Duration-Seconds': whole('Expected time of rendering.', 1, 86_400),
  ETag: text('A strong tag: it changes whenever the response does.'),
  'Content-Language': text(
    'Languages of the translated names and descriptions of packs, of a long list those at its beginning; absent where none is.',
  ),
  'X-Total-Count': whole('Entries of all pages.', 0),
  'Cache-Control': text('Who may keep the response, and for how long.'),
  'Accept-Ranges': text('Always `bytes`.'),
  'Content-Disposition': text(
    'Always inline, with the name of the file; that of a result has its kind and the beginning of its task id.',
  ),
  Digest: text('SHA-256 of the whole file (RFC 3230).'),
  'Repr-Digest': text('SHA-256 of the whole file (RFC 9530).'),
  'Content-Range': text('First and last byte, and the size of the file.'),
} as const satisfies Record<string, Json>

export type HeaderName = keyof typeof HEADERS

/** Headers that show the quota, on every response of a route that has one. */
export const quotaHeaders = (route: Route): HeaderName[] =>
  quotaOf(route) === undefined ? [] : ['RateLimit-Policy', 'RateLimit']

export const headerRefs = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
