import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { IMAGE_API } from '../support/client.ts'
import { notAllowed, rowOf, UPSCALE } from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
/** Text that is JSON for the server whatever it holds. */
const text = (body: string | Uint8Array<ArrayBuffer>) => ({ headers: JSON_TYPE, body })

const rawPost =
  (path: string, headers: string, body = '') =>
  (world: World) =>
    Promise.resolve(
      `POST ${path} HTTP/1.1\r\nHost: kiln\r\nAuthorization: Bearer ${world.token}\r\n` +
        `Content-Type: application/json\r\n${headers}\r\n\r\n${body}`,
    )

const rawGet = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: kiln\r\n${headers}Connection: close\r\n\r\n`

const unsupported = { status: 415, error: 'unsupported_media_type' }
const encoded = { status: 415, error: 'unsupported_encoding' }
const invalid = { status: 400, error: 'json_invalid' }
const tooDeep = { status: 400, error: 'json_too_deep' }
const lacking = { status: 400, error: 'body_required' }
const tooLarge = { status: 413, error: 'body_too_large' }
const tooLong = { status: 431, error: 'headers_too_large' }
const notFound = { status: 404, error: 'not_found' }
const pathInvalid = { status: 400, error: 'path_invalid' }
const malformed = {
  status: 400,
  error: 'bad_request',
  header: ['connection', /close/] as [string, RegExp],
}
const ofUpscale = notAllowed(/^POST, GET, HEAD$/)

const typed = (type: string) => ({ headers: { 'content-type': type }, body: '{}' })
const gzipped = (given: string | Buffer) => ({
  headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
  body: gzipSync(given),
})

const CHUNKS = `180000\r\n{"file_name": "${'x'.repeat(0x180000)}`
const CHUNKED = 'Transfer-Encoding: chunked'

/** Rows with what is sent, and the response that it must get. */
const REQUESTS: Parameters<typeof rowOf>[] = [
  [1, 'no Content-Type', { body: Buffer.from('{}') }, unsupported],
  [2, 'a body in gzip', gzipped('{}'), encoded],
  [2, 'a bomb in gzip', gzipped(Buffer.alloc(20_000_000)), encoded],
  [3, 'no body', {}, lacking],
  [3, 'a body of blanks', text('  \n'), lacking],
  [5, 'invalid UTF-8', text(Buffer.from('{"prompt": "\xff"}', 'latin1')), invalid],
  [8, 'depth 65', text(`{"a": ${'['.repeat(64)}${']'.repeat(64)}}`), tooDeep],
  [8, 'a million brackets', text(`{"a": ${'['.repeat(1_000_000)}`), tooDeep],
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
  ...[
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
  ].map((type) => ({ row: 1, what: type, ...typed(type), ...unsupported })),
  ...REQUESTS.map((request) => rowOf(...request)),
  ...[
    '{',
    '{"image": "x",}',
    '{"creativity": NaN}',
    '{"prompt": "a\nb"}',
    '{"creativity": 1e400}',
    '{"image": "x"} x',
    "{'image': 'x'}",
    '{"image": "x"',
    '{"prompt": "\\ud800"}',
    '{"prompt": "a\\u0000b"}',
    '[]',
    '"x"',
    '5',
    'null',
    '{"prompt": "a", "prompt": "b"}',
    '{"__proto__": {}}',
    '{"advanced_settings": {"__proto__": {}}}',
  ].map((body, index) => ({
    row: index < 8 ? 4 : index < 10 ? 5 : index < 14 ? 6 : 7,
    what: body,
    ...text(body),
    ...invalid,
  })),
  ...['PATCH', 'DELETE', 'PUT', 'OPTIONS'].map((method) => ({
    row: 13,
    what: method,
    method,
    ...ofUpscale,
  })),
  ...['%ff', 'a%00b', '%', '%zz'].map((part) => ({
    row: 15,
    what: `${part} in the path`,
    raw: rawGet(`${UPSCALE}/${part}`),
    ...pathInvalid,
  })),
  ...MALFORMED.map(([row, what, raw]) => ({ row, what, raw, ...malformed })),
]

const unauthorized = {
  status: 401,
  error: 'unauthorized',
  header: ['www-authenticate', /^Bearer$/] as [string, RegExp],
}

const bearer = (token: string) => Promise.resolve({ authorization: `Bearer ${token}` })
const now = () => Math.floor(Date.now() / 1000)
const claims = (more: object = {}) => ({
  iss: 'urn:kiln:development',
  aud: 'kiln',
  sub: 'alice',
  exp: now() + 600,
  ...more,
})

const CREDENTIALS: [number, string, (world: World) => Promise<Record<string, string>>][] = [
  [19, 'Basic', () => Promise.resolve({ authorization: 'Basic YTpi' })],
  [19, 'Bearer alone', () => Promise.resolve({ authorization: 'Bearer' })],
  [19, 'two tokens', ({ token }) => bearer(`${token} ${token}`)],
  [
    19,
    'a token of 9 KiB',
    ({ signToken }) => signToken(claims({ more: 'x'.repeat(7000) })).then(bearer),
  ],
  [20, 'alg none', () => bearer(`${encode({ alg: 'none' })}.${encode(claims())}.`)],
  [20, 'HS256 with the public key', ({ signWithPublicKey }) => signWithPublicKey().then(bearer)],
  [21, 'expired', ({ signToken }) => signToken(claims({ exp: now() - 61 })).then(bearer)],
  [21, 'not yet valid', ({ signToken }) => signToken(claims({ nbf: now() + 300 })).then(bearer)],
  [22, 'other issuer', ({ signToken }) => signToken(claims({ iss: 'x' })).then(bearer)],
  [22, 'other audience', ({ signToken }) => signToken(claims({ aud: 'x' })).then(bearer)],
  [22, 'no sub', ({ signToken }) => signToken(claims({ sub: undefined })).then(bearer)],
  [22, 'no exp', ({ signToken }) => signToken(claims({ exp: undefined })).then(bearer)],
  [22, 'sub anonymous', ({ signToken }) => signToken(claims({ sub: 'anonymous' })).then(bearer)],
  [23, 'unknown kid', ({ signToken }) => signToken(claims(), { kid: 'x' }).then(bearer)],
  [23, 'unknown crit', ({ signToken }) => signToken(claims(), { crit: ['x'], x: 1 }).then(bearer)],
  [24, 'API key revoked', ({ apiKeys }) => bearer(apiKeys.revoked)],
  [24, 'API key expired', ({ apiKeys }) => bearer(apiKeys.expired)],
  [
    24,
    'API key with one character changed',
    ({ apiKeys: { live } }) => bearer(live.replace(/.$/, live.endsWith('a') ? 'b' : 'a')),
  ],
  [24, 'X-API-KEY with a token', ({ token }) => Promise.resolve({ 'x-api-key': token })],
  [25, 'a PAT', () => bearer('kiln_pat_000000000000000000000000000000000000')],
]

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Rows about credentials and Idempotency-Key. */
export const CALLER_ROWS: Row[] = [
  { row: 18, what: 'no credential', body: {}, credential: false, ...unauthorized },
  {
    row: 18,
    what: 'no credential, and nothing else right',
    body: 'x'.repeat(100),
    credential: false,
    ...unauthorized,
  },
  ...CREDENTIALS.map(([row, what, headers]) => ({
    row,
    what,
    body: {},
    headers,
    credential: false as const,
    ...unauthorized,
  })),
  {
    row: 19,
    what: 'two Authorization headers',
    raw: ({ token }) =>
      Promise.resolve(
        rawGet(UPSCALE, `Authorization: Bearer ${token}\r\nAuthorization: Bearer ${token}\r\n`),
      ),
    ...unauthorized,
  },
  {
    row: 19,
    what: 'a wrong token behind 1,500 other headers, where it may be absent',
    raw: rawGet('/nodes', `${'X:y\r\n'.repeat(1500)}Authorization: Bearer x\r\n`),
    ...unauthorized,
  },
  ...['GET', 'POST'].map((method) => ({
    row: 28,
    what: `${method} on another owner's task`,
    method,
    path: ({ othersTask }: World) =>
      `${UPSCALE}/${othersTask}${method === 'POST' ? '/cancel' : ''}`,
    status: 404,
    error: 'task_not_found',
  })),
  {
    row: 30,
    what: 'a key, and a path longer than an index takes',
    path: `${UPSCALE}/${randomBytes(5000).toString('hex')}/cancel`,
    headers: { 'idempotency-key': 'long' },
    status: 404,
    error: 'task_not_found',
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
