import type { TObject } from 'typebox'

import { IDEMPOTENCY_KEY_FORM } from '../access/idempotency-key.ts'
import type { ListForm } from '../serve/query.ts'
import type { Route } from '../route.ts'
import type { Schemas } from './schemas.ts'

type Json = Record<string, unknown>

/** The parameters of a route: path, query, and the headers that it reads. */
export const makeParameters = (route: Route, schemas: Schemas): Json[] => [
  ...listProperties(route.params).map(([name, schema]) =>
    describe(name, schema, { ...IN_PATH, schemas }),
  ),
  ...listProperties(route.query).map(([name, schema]) =>
    describe(name, schema, {
      place: 'query',
      required: isRequired(route, name),
      ...route,
      schemas,
    }),
  ),
  ...[...new Set([...(route.requestHeaders ?? []), ...(route.read ? READ_HEADERS : [])])].map(
    (name) => header(name, REQUEST_HEADERS[name]),
  ),
  ...(route.method === 'post' && !route.keepsNothing ? [IDEMPOTENCY_KEY] : []),
]

const listProperties = (schema: TObject | undefined): [string, Json][] =>
  Object.entries(schema?.properties ?? {}) as [string, Json][]

interface Place {
  place: 'path' | 'query'
  required: boolean
  queryLists?: ListForm
  /** Names whose empty text counts as absent. */
  queryEmptyIsAbsent?: readonly string[]
  schemas: Schemas
}

const IN_PATH = { place: 'path', required: true } as const

/** One that has a default need not be given. */
const isRequired = ({ query }: Route, name: string): boolean => {
  const { default: value } = (query?.properties[name] ?? {}) as Json
  return value === undefined && (query?.required as string[] | undefined)?.includes(name) === true
}

const describe = (
  name: string,
  { description, 'x-list': list, ...schema }: Json,
  { place, required, queryLists = 'commas', queryEmptyIsAbsent = [], schemas }: Place,
) => ({
  name,
  in: place,
  required,
  ...(queryEmptyIsAbsent.includes(name) && { allowEmptyValue: true }),
  description:
    schema['type'] === 'array'
      ? (description === undefined ? '' : `${description as string} `) +
        LISTS[(list as ListForm | undefined) ?? queryLists]
      : description,
  schema: schemas.show(schema, 'parameter'),
})

const LISTS: Record<ListForm, string> = {
  commas: 'Repeated, or with commas.',
  repeated: 'Repeated; a comma is part of a value.',
}

const header = (name: string, description: string, schema: Json = {}): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', ...schema },
})

const REQUEST_HEADERS = {
  'If-Match': 'ETag of what the caller means to change. Any other ETag gets 412.',
  'If-None-Match': 'ETag of what the caller has. If it has not changed, the response is 304.',
  'If-Range':
    'ETag of the file that Range is about. If the file has another one, Range is ignored.',
  Range: 'One range of bytes. Anything else gets the whole file.',
  Prefer:
    '`wait=N` with N from 1 to 60: the response comes with the next change of what the caller has, or after N seconds. With `handling=strict`, on any route, a field that nothing reads is rejected. Anything else is ignored.',
  'Cancel-After':
    'The same as the member `kiln_end_within`, in seconds, or as `1h30m`. It is part of the body for the Idempotency-Key.',
  'Last-Event-ID': 'The id of the last event that the caller has: the stream goes on after it.',
  'Accept-Language':
    'Languages in which name and description of packs come where `translations` has them (RFC 4647, Lookup).',
  'Content-Digest':
    'SHA-256 of the bytes (RFC 9530), also as Repr-Digest. Bytes with another digest are rejected.',
}

const READ_HEADERS = ['If-None-Match'] as const

export type RequestHeaderName = keyof typeof REQUEST_HEADERS

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'A request that is repeated with its key gets the response of the first one. Nothing is done twice.',
  { minLength: 1, maxLength: 257, pattern: IDEMPOTENCY_KEY_FORM.source },
)
