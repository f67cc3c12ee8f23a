import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { IMAGE_API } from '../support/client.ts'
import { UPSCALE } from './bad-input-support.ts'
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
const invalid = { status: 400, error: 'json_invalid' }
const malformed = {
  status: 400,
  error: 'bad_request',
  header: ['connection', /close/] as [string, RegExp],
}
const refused405 = { status: 405, error: 'method_not_allowed' }

/** Rows about headers and transport. */
export const TRANSPORT_ROWS: Row[] = [
  { row: 1, what: 'no Content-Type', body: Buffer.from('{}'), ...unsupported },
  ...[
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
  ].map((type) => ({
    row: 1,
    what: type,
    headers: { 'content-type': type },
    body: '{}',
    ...unsupported,
  })),
  {
    row: 2,
    what: 'a body in gzip',
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync('{}'),
    status: 415,
    error: 'unsupported_encoding',
  },
  {
    row: 2,
    what: 'a bomb in gzip',
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(20_000_000)),
    status: 415,
    error: 'unsupported_encoding',
  },
  { row: 3, what: 'no body', status: 400, error: 'body_required' },
  { row: 3, what: 'a body of blanks', ...text('  \n'), status: 400, error: 'body_required' },
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
  {
    row: 5,
    what: 'invalid UTF-8',
    ...text(Buffer.from('{"prompt": "\xff"}', 'latin1')),
    ...invalid,
  },
  {
    row: 8,
    what: 'depth 65',
    ...text(`{"a": ${'['.repeat(64)}${']'.repeat(64)}}`),
    status: 400,
    error: 'json_too_deep',
  },
  {
    row: 8,
    what: 'a million brackets',
    ...text(`{"a": ${'['.repeat(1_000_000)}`),
    status: 400,
    error: 'json_too_deep',
  },
  {
    row: 9,
    what: 'Content-Length over the limit',
    raw: rawPost(UPSCALE, 'Content-Length: 68000001'),
    status: 413,
    error: 'body_too_large',
  },
  {
    row: 9,
    what: 'chunks past the limit',
    raw: rawPost(
      '/customers/storage',
      'Transfer-Encoding: chunked',
      `180000\r\n{"file_name": "${'x'.repeat(0x180000)}`,
    ),
    status: 413,
    error: 'body_too_large',
  },
  {
    row: 9,
    what: 'one image over IMAGE_MAX_BYTES',
    body: { image: 'A'.repeat(400_000) },
    status: 413,
    error: 'body_too_large',
  },
  {
    row: 10,
    what: 'two lengths',
    raw: rawPost(UPSCALE, 'Content-Length: 2\r\nContent-Length: 3', '{}'),
    ...malformed,
  },
  {
    row: 10,
    what: 'a length and chunks',
    raw: rawPost(UPSCALE, 'Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n'),
    ...malformed,
  },
  {
    row: 11,
    what: 'headers over 16 KiB',
    raw: rawGet('/health', `X-Long: ${'x'.repeat(20_000)}\r\n`),
    status: 431,
    error: 'headers_too_large',
  },
  {
    row: 11,
    what: 'headers of two megabytes',
    raw: rawGet('/health', `X-Long: ${'x'.repeat(2_000_000)}\r\n`),
    status: 431,
    error: 'headers_too_large',
  },
  ...['PATCH', 'DELETE', 'PUT', 'OPTIONS'].map((method) => ({
    row: 13,
    what: method,
    method,
    ...refused405,
    header: ['allow', /^POST, GET, HEAD$/] as [string, RegExp],
  })),
  {
    row: 13,
    what: 'TRACE',
    raw: rawGet(UPSCALE).replace('GET', 'TRACE'),
    ...refused405,
    header: ['allow', /^POST, GET, HEAD$/],
  },
  {
    row: 13,
    what: 'GET of a fixed word that could be an id',
    method: 'GET',
    path: `${IMAGE_API}/skin-enhancer/flexible`,
    ...refused405,
    header: ['allow', /^POST$/],
  },
  {
    row: 13,
    what: 'POST of the document',
    path: '/openapi.json',
    ...refused405,
    header: ['allow', /^GET, HEAD$/],
  },
  { row: 14, what: 'an unknown path', path: '/nowhere', status: 404, error: 'not_found' },
  { row: 14, what: 'another case', path: UPSCALE.toUpperCase(), status: 404, error: 'not_found' },
  { row: 14, what: 'two slashes', raw: rawGet('//nodes'), status: 404, error: 'not_found' },
  {
    row: 14,
    what: 'a star',
    raw: rawGet('*').replace('GET', 'OPTIONS'),
    status: 404,
    error: 'not_found',
  },
  ...['%ff', 'a%00b', '%', '%zz'].map((part) => ({
    row: 15,
    what: `${part} in the path`,
    raw: rawGet(`${UPSCALE}/${part}`),
    status: 400,
    error: 'path_invalid',
  })),
  ...['a\nb', 'a\0b', 'a\rb'].map((value) => ({
    row: 16,
    what: `${JSON.stringify(value)} in a header value`,
    raw: rawGet('/health', `X-Value: ${value}\r\n`),
    ...malformed,
  })),
  { row: 16, what: 'no Host', raw: 'GET /health HTTP/1.1\r\n\r\n', ...malformed },
  {
    row: 16,
    what: 'two Hosts',
    raw: 'GET /health HTTP/1.1\r\nHost: kiln\r\nHost: other\r\n\r\n',
    ...malformed,
  },
  { row: 16, what: 'a target that does not parse', raw: rawGet('http://['), ...malformed },
  { row: 16, what: 'CONNECT', raw: rawGet('kiln:443').replace('GET', 'CONNECT'), ...malformed },
  {
    row: 16,
    what: 'an unknown method',
    raw: rawGet('/health').replace('GET', 'FETCH'),
    ...malformed,
  },
  { row: 16, what: 'no HTTP at all', raw: '\x16\x03\x01\x02\0\x01', ...malformed },
  {
    row: 16,
    what: 'a chunk without a length',
    raw: rawPost(UPSCALE, 'Transfer-Encoding: chunked', 'zz\r\n'),
    ...malformed,
  },
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
  [21, 'not yet valid', ({ signToken }) => signToken(claims({ nbf: now() + 65 })).then(bearer)],
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
