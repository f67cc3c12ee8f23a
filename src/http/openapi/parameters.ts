import type { TObject } from 'typebox'

import { IDEMPOTENCY_KEY_FORM } from '../idempotency.ts'
import type { Route } from '../route.ts'

type Json = Record<string, unknown>

/** The parameters of a route: path, query, and the headers that it reads. */
export const makeParameters = (route: Route): Json[] => [
  ...listProperties(route.params).map(([name, schema]) => describe(name, 'path', schema)),
  ...listProperties(route.query).map(([name, schema]) => describe(name, 'query', schema)),
  ...(route.requestHeaders ?? []).map((name) => REQUEST_HEADERS[name]),
  ...(route.method === 'post' ? [IDEMPOTENCY_KEY] : []),
]

const listProperties = (schema: TObject | undefined): [string, Json][] =>
  Object.entries(schema?.properties ?? {}) as [string, Json][]

const describe = (name: string, place: 'path' | 'query', { description, ...schema }: Json) => ({
  name,
  in: place,
  required: place === 'path',
  description:
    schema['type'] === 'array' ? `${String(description)} Repeated, or with commas.` : description,
  schema,
})

const header = (name: string, description: string, schema: Json = {}): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
})

const REQUEST_HEADERS = {
  'If-None-Match': header('If-None-Match', 'ETag of what the caller has; unchanged is 304.'),
  'If-Range': header('If-Range', 'ETag for which Range counts.'),
  Range: header('Range', 'One range of bytes; anything else gets the whole file.'),
  'Content-Digest': header(
    'Content-Digest',
    'SHA-256 of the bytes (RFC 9530), also as Repr-Digest; others are refused.',
  ),
}

export type RequestHeaderName = keyof typeof REQUEST_HEADERS

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'Repeating a request with its key answers what the first one answered; nothing is done twice.',
  { minLength: 1, maxLength: 257, pattern: IDEMPOTENCY_KEY_FORM.source },
)
