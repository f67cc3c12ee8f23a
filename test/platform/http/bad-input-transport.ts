import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { IMAGE_API, UPSCALE } from '../../support/client.ts'
import { error, NO_TASK, notAllowed, rowOf, typed, UNAUTHORIZED } from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
/** Text that is JSON for the server whatever it holds. */
const text = (body: string | Uint8Array<ArrayBuffer>) => ({ headers: JSON_TYPE, body })

const rawPost =
  (path: string, headers: string, body = '') =>
  (world: World) =>
    `POST ${path} HTTP/1.1\r\nHost: kiln\r\nAuthorization: Bearer ${world.token}\r\n` +
    `Content-Type: application/json\r\n${headers}\r\n\r\n${body}`

const rawGet = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: kiln\r\n${headers}Connection: close\r\n\r\n`

const unsupported = error(415, 'unsupported_media_type')
const encoded = error(415, 'unsupported_encoding')
const invalid = error(400, 'json_invalid')
const tooDeep = error(400, 'json_too_deep')
const lacking = error(400, 'body_required')
const tooLarge = error(413, 'body_too_large')
const tooLong = error(431, 'headers_too_large')
const notFound = error(404, 'not_found')
const pathInvalid = error(400, 'path_invalid')
const malformed = error(400, 'bad_request', { header: ['connection', /close/] })
const ofUpscale = notAllowed(/^POST, GET, HEAD$/)

const gzipped = (given: string | Buffer) => ({
  headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
  body: gzipSync(given),
})

const CHUNKS = `180000\r\n{"file_name": "${'x'.repeat(0x180000)}`
const CHUNKED = 'Transfer-Encoding: chunked'

/** Rows with what is sent, and the response that it must get. */
const REQUESTS: Parameters<typeof rowOf>[] = [
  [1, 'text/plain', typed('text/plain', '{}'), unsupported],
  [1, 'no Content-Type', { body: Buffer.from('{}') }, unsupported],
  [2, 'a body in gzip', gzipped('{}'), encoded],
  [2, 'a bomb in gzip', gzipped(Buffer.alloc(20_000_000)), encoded],
  [3, 'no body', {}, lacking],
  [3, 'a body of blanks', text('  \n'), lacking],
  [8, 'depth 65', text(`{"a": ${'['.repeat(64)}${']'.repeat(64)}}`), tooDeep],
  [9, 'a length over the limit', { raw: rawPost(UPSCALE, 'Content-Length: 68000001') }, tooLarge],
  [9, 'chunks past it', { raw: rawPost('/customers/storage', CHUNKED, CHUNKS) }, tooLarge],
  [9, 'an image over IMAGE_MAX_BYTES', { body: { image: 'A'.repeat(400_000) } }, tooLarge],
  [11, 'headers over 16 KiB', { raw: rawGet('/health', `X: ${'x'.repeat(20_000)}\r\n`) }, tooLong],
  [11, 'headers of 2 MB', { raw: rawGet('/health', `X: ${'x'.repeat(2_000_000)}\r\n`) }, tooLong],
  [13, 'TRACE', { raw: rawGet(UPSCALE).replace('GET', 'TRACE') }, ofUpscale],
  [
    13,
    'GET of a fixed word that could be an id',
    { method: 'GET', path: `${IMAGE_API}/skin-enhancer/flexible` },
    notAllowed(/^POST$/),
  ],
  [13, 'POST of the document', { path: '/openapi.json' }, notAllowed(/^GET, HEAD$/)],
  [14, 'an unknown path', { path: '/nowhere' }, notFound],
  [14, 'another case', { path: UPSCALE.toUpperCase() }, notFound],
  [14, 'two slashes', { raw: rawGet('//nodes') }, notFound],
  [14, 'a star', { raw: rawGet('*').replace('GET', 'OPTIONS') }, notFound],
]

/** One of each kind; the tests of strict reading have all that may be wrong with JSON. */
const SYNTAXES: [row: number, body: string][] = [
  [4, '{"image": "x",}'],
  [5, '{"prompt": "\\ud800"}'],
  [6, '[]'],
  [7, '{"prompt": "a", "prompt": "b"}'],
]

const MALFORMED: [row: number, what: string, raw: Row['raw'] & {}][] = [
  [10, 'two lengths', rawPost(UPSCALE, 'Content-Length: 2\r\nContent-Length: 3', '{}')],
  [10, 'a length and chunks', rawPost(UPSCALE, `Content-Length: 2\r\n${CHUNKED}`, '0\r\n\r\n')],
  ...['a\nb', 'a\0b', 'a\rb'].map((value): [number, string, string] => [
    16,
    `${JSON.stringify(value)} in a header value`,
    rawGet('/health', `X-Value: ${value}\r\n`),
  ]),
  [16, 'no Host', 'GET /health HTTP/1.1\r\n\r\n'],
  [16, 'two Hosts', 'GET /health HTTP/1.1\r\nHost: kiln\r\nHost: other\r\n\r\n'],
  [16, 'a target that does not parse', rawGet('http://[')],
  [16, 'CONNECT', rawGet('kiln:443').replace('GET', 'CONNECT')],
  [16, 'an unknown method', rawGet('/health').replace('GET', 'FETCH')],
  [16, 'no HTTP at all', '\x16\x03\x01\x02\0\x01'],
  [16, 'a chunk without a length', rawPost(UPSCALE, CHUNKED, 'zz\r\n')],
]

/** Rows about headers and transport. */
export const TRANSPORT_ROWS: Row[] = [
  ...REQUESTS.map((request) => rowOf(...request)),
  ...SYNTAXES.map(([row, body]) => rowOf(row, body, text(body), invalid)),
  ...['PATCH', 'DELETE', 'PUT', 'OPTIONS'].map((method) =>
    rowOf(13, method, { method }, ofUpscale),
  ),
  ...['%ff', 'a%00b', '%', '%zz'].map((part) =>
    rowOf(15, `${part} in the path`, { raw: rawGet(`${UPSCALE}/${part}`) }, pathInvalid),
  ),
  ...MALFORMED.map(([row, what, raw]) => rowOf(row, what, { raw }, malformed)),
]

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const claims = { iss: 'urn:kiln:development', aud: 'kiln', sub: 'alice' }
const exp = Math.floor(Date.now() / 1000) + 600
const unsigned = [{ alg: 'none' }, { ...claims, exp }].map((part) =>
  Buffer.from(JSON.stringify(part)).toString('base64url'),
)

/** One of each kind; the tests of the authenticator have all that may be wrong with a token. */
const CREDENTIALS: [number, string, (world: World) => Record<string, string>][] = [
  [19, 'Basic', () => ({ authorization: 'Basic YTpi' })],
  [19, 'Bearer alone', () => ({ authorization: 'Bearer' })],
  [19, 'two tokens', ({ token }) => bearer(`${token} ${token}`)],
  [20, 'alg none', () => bearer(`${unsigned.join('.')}.`)],
  [24, 'API key revoked', ({ apiKeys }) => bearer(apiKeys.revoked)],
  [24, 'X-API-KEY with a token', ({ token }) => ({ 'x-api-key': token })],
  [25, 'a PAT', () => bearer('kiln_pat_000000000000000000000000000000000000')],
]

/** Rows about credentials and Idempotency-Key. */
export const CALLER_ROWS: Row[] = [
  rowOf(18, 'no credential', { body: {}, credential: false }, UNAUTHORIZED),
  rowOf(
    18,
    'no credential, and nothing else right',
    { body: 'x'.repeat(100), credential: false },
    UNAUTHORIZED,
  ),
  ...CREDENTIALS.map(([row, what, headers]) =>
    rowOf(row, what, { body: {}, headers, credential: false }, UNAUTHORIZED),
  ),
  rowOf(
    19,
    'two Authorization headers',
    { raw: ({ token }) => rawGet(UPSCALE, `Authorization: Bearer ${token}\r\n`.repeat(2)) },
    UNAUTHORIZED,
  ),
  rowOf(
    19,
    'a wrong token behind 1,500 other headers, where it may be absent',
    { raw: rawGet('/nodes', `${'X:y\r\n'.repeat(1500)}Authorization: Bearer x\r\n`) },
    UNAUTHORIZED,
  ),
  ...['GET', 'POST'].map((method) => ({
    row: 28,
    what: `${method} on another owner's task`,
    method,
    path: ({ othersTask }: World) =>
      `${UPSCALE}/${othersTask}${method === 'POST' ? '/cancel' : ''}`,
    ...NO_TASK,
  })),
  {
    row: 30,
    what: 'a key, and a path longer than an index takes',
    path: `${UPSCALE}/${randomBytes(5000).toString('hex')}/cancel`,
    headers: { 'idempotency-key': 'long' },
    ...NO_TASK,
  },
  ...['', '""', 'k'.repeat(256), `"${'k'.repeat(256)}"`, 'ké', '"abc', 'a b', '"a"b"'].map(
    (key) => ({
      row: 30,
      what: `key ${key.length > 20 ? `of ${key.length} characters` : `<${key}>`}`,
      headers: { ...JSON_TYPE, 'idempotency-key': key },
      body: '{}',
      status: 400,
      error: 'idempotency_key_invalid',
      field: 'Idempotency-Key must be',
    }),
  ),
]
