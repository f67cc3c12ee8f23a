import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import { makeSigner } from '../../../src/platform/adapters/signing.ts'
import {
  IMAGE_API,
  UPSCALE,
  VIDEO_API,
  expectStatus,
  makeClient,
  readResponse,
} from '../../support/client.ts'
import type { Client } from '../../support/client.ts'
import { startReceiver, type Receiver } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { sendRaw, type RawResponse } from '../../support/raw.ts'
import { startService, type Service } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { EVENT_ROWS } from './bad-input-event.ts'
import { IMAGE_ROWS } from './bad-input-image.ts'
import { REGISTRY_ROWS, makeRegistryWorld } from './bad-input-registry.ts'
import { makeHollowPng, PRECISION, RELIGHT } from './bad-input-support.ts'
import type { Row, World } from './bad-input-support.ts'
import { CALLER_ROWS, TRANSPORT_ROWS } from './bad-input-transport.ts'
import { VIDEO_ROWS } from './bad-input-video.ts'

const IMAGE_MAX_BYTES = 200_000
const SIGNING_KEY = randomBytes(32).toString('base64')

let service: Service
let production: { baseUrl: string }
let limited: { baseUrl: string }
let receiver: Receiver
let mallory: Client
let world: World
let slow: { headers: Promise<RawResponse>; body: Promise<RawResponse> }

before(async () => {
  service = await startService({
    env: {
      OVERRIDE_IMAGE_MAX_BYTES: String(IMAGE_MAX_BYTES),
      // The drip of one row takes as long; every other download has to be done by then.
      OVERRIDE_IMAGE_URL_TIMEOUT_SECONDS: String(Math.ceil(PATIENCE_MS / 12_000)),
      OVERRIDE_VIDEO_TINY: 'true',
      ADMIN_SUBJECTS: 'root',
      SIGNING_KEYS: SIGNING_KEY,
    },
  })
  // Its tokens are of another issuer, because production rejects the development one; API keys are not.
  production = await service.startSecondApi({
    NODE_ENV: 'production',
    TRUST_PROXY: 'none',
    OVERRIDE_OUTBOUND_ALLOW_LOOPBACK: '',
    OVERRIDE_VIDEO_TINY: '',
    AUTH_ISSUER: 'https://issuer.example.com',
  })
  limited = await service.startSecondApi({ VIDEO_EXTEND_SOURCE: 'any', OWNER_CREDIT_LIMIT: '10' })
  receiver = await startReceiver(serveImages)
  slow = startSlowRequests(await service.token('slow'))
  world = await makeWorld()
  mallory = makeClient(service.baseUrl, world.token)
})

after(async () => {
  await service?.stop()
  await receiver?.close()
})

const makeWorld = async (): Promise<World> => {
  const token = await service.token('mallory')
  const mallory = makeClient(service.baseUrl, token)
  const alice = makeClient(service.baseUrl, await service.token('alice'))
  const picture = await base64()
  const othersTask = await makeEndedTask(alice, picture)
  const ownTask = await makeEndedTask(mallory, picture)
  return {
    token,
    picture,
    othersTask,
    ownTask,
    othersEvent: await findFirstEvent(alice, othersTask),
    ownEvent: await findFirstEvent(mallory, ownTask),
    othersVideo: await makeVideo(alice, 'success'),
    ownVideo: await makeVideo(mallory, 'success'),
    failedVideo: await makeVideo(mallory, 'failed', {
      images: [`http://127.0.0.1:${receiver.port}/status/404`],
    }),
    apiKeys: await makeApiKeys(mallory),
    registry: await makeRegistryWorld(
      service,
      makeSigner({ keys: [SIGNING_KEY], publicUrl: service.baseUrl, linkSeconds: 60 }),
    ),
  }
}

const makeEndedTask = async (client: Client, image: string): Promise<string> => {
  const { body } = await client.post(UPSCALE, { image })
  await client.untilEnded('image-upscaler', body.data.task_id)
  return body.data.task_id
}

const findFirstEvent = async (client: Client, task: string): Promise<string> => {
  const { body } = await client.get(`/tasks/${task}/events`)
  return (body['events'] as unknown as { id: string }[])[0]?.id ?? ''
}

/** A video task that has ended. */
const makeVideo = async (client: Client, state: string, more: object = {}): Promise<string> => {
  const body = { model: 'videoq2-turbo', duration: 1, prompt: 'sea', ...more }
  const created = expectStatus(await client.post(`${VIDEO_API}/text2video`, body), 200)
  const id = String(created.body['task_id'])
  const ended = await client.untilVideoEnded(id)
  assert.equal(ended.state, state, ended.err_msg)
  return id
}

const makeApiKeys = async (client: Client): Promise<World['apiKeys']> => {
  const make = async (): Promise<{ id: string; key: string }> =>
    (await client.post('/users/api-keys', { name: 'x' })).body as never
  const [live, revoked] = [await make(), await make()]
  await client.delete(`/users/api-keys/${revoked.id}`)
  return { live: live.key, revoked: revoked.key }
}

/** The limits of 10 s take 10 s: these begin before all other rows and are looked at last. */
const startSlowRequests = (token: string): typeof slow => ({
  headers: sendRaw(
    service.baseUrl,
    'GET /health HTTP/1.1\r\nHost: kiln\r\n',
    () => 'X-Slow: x\r\n',
  ),
  body: sendRaw(
    service.baseUrl,
    `POST /customers/storage HTTP/1.1\r\nHost: kiln\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nIdempotency-Key: slow\r\nContent-Length: 100000\r\n\r\n{`,
    () => ' ',
  ),
})

/** Everything that a rejected request must leave as it was; what the slow request holds is left out. */
const takeStock = async () => {
  const { sql } = service.database
  const [rows] = await sql`
    select
      (select count(*) from task) as tasks,
      (select count(*) from event) as events,
      (select count(*) from outbox) as outbox,
      (select count(*) from idempotency where principal <> 'user:slow') as keys,
      (select count(*) from upload) as uploads,
      (select count(*) from api_key) as api_keys,
      (select count(*) from redelivery) as redeliveries,
      (select count(*) from webhook_secret) as webhook_secrets,
      (select count(*) from ledger) as ledger,
      (select sum(credits_used) from owner) as credits,
      (select count(*) from app_user) as users,
      (select sum(rev) from publisher) as publishers,
      (select count(*) from publisher_member) as members,
      (select count(*) from personal_access_token where revoked_at is null) as tokens,
      (select sum(rev) from node) as nodes,
      (select sum(rev) from version) as versions,
      (select count(*) from version_transition) as moves,
      (select count(*) from archive) as archives,
      (select count(*) from host_node) as host_nodes,
      (select count(*) from host_node_report) as reports,
      (select count(*) from audit_log) as audited,
      (select sum(changes) from listed_count) as changes
  `
  return { ...rows, files: (await service.listFiles()).toSorted() }
}

/** Waits for what a request lets go of only after its response, when that went out before its body was read. */
const assertNothingLeft = async (before: unknown): Promise<void> => {
  const isSame = async () => isDeepStrictEqual(await takeStock(), before)
  await waitFor('nothing is left', isSame).catch(async () =>
    assert.deepEqual(await takeStock(), before),
  )
}

interface Result {
  status: number
  headers: Headers
  body: { error?: string; message?: string; details?: string[]; request_id?: string }
}

const send = async (row: Row): Promise<Result> => {
  const { raw, method = 'POST' } = row
  const path = typeof row.path === 'function' ? row.path(world) : (row.path ?? UPSCALE)
  if (raw !== undefined) {
    const result = await sendRaw(service.baseUrl, typeof raw === 'string' ? raw : raw(world))
    assert.ok(result.closed, 'the connection is closed')
    return result
  }
  const { body, type } = bodyOf(row)
  const given = typeof row.headers === 'function' ? row.headers(world) : row.headers
  const credential =
    row.credential === false
      ? {}
      : row.production
        ? { 'x-api-key': world.apiKeys.live }
        : { authorization: `Bearer ${world.token}` }
  const { baseUrl } = row.production ? production : row.limited ? limited : service
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'idempotency-key': randomUUID(), ...type, ...credential, ...given },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  // The time-outs of production are for a machine that is not busy.
  if (row.production && response.status === 503) {
    await response.arrayBuffer()
    return await send(row)
  }
  return await readResponse(response, { method, path })
}

const bodyOf = (row: Row) => {
  const body = typeof row.body === 'function' ? row.body(world) : row.body
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array)
    return { body, type: {} }
  return { body: JSON.stringify(body), type: { 'content-type': 'application/json' } }
}

const assertRejected = (row: Row, { status, headers, body }: Result): void => {
  assert.deepEqual([status, body.error], [row.status, row.error], JSON.stringify(body))
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(headers.get('x-request-id'), body.request_id)
  assert.ok(body.message)
  const [reason, ...rest] = row.reason === undefined ? [undefined] : (body.details ?? [])
  assert.equal(reason, row.reason, body.details?.join('\n'))
  if (row.field !== undefined) {
    const issues = row.reason === undefined ? body.details : rest
    assert.equal(issues?.length, 1, body.details?.join('\n'))
    assert.ok(issues?.[0]?.startsWith(row.field), issues?.[0])
  }
  if (row.header) assert.match(headers.get(row.header[0]) ?? '', row.header[1])
}

describe('bad input is rejected and leaves nothing', () => {
  /** As the row before has left it, unless that has failed. */
  let stock: object | undefined

  for (const row of [
    ...TRANSPORT_ROWS,
    ...CALLER_ROWS,
    ...IMAGE_ROWS,
    ...VIDEO_ROWS,
    ...EVENT_ROWS,
    ...REGISTRY_ROWS,
  ])
    test(`${row.row}: ${row.production ? 'in production, ' : ''}${row.what}`, async () => {
      const before = stock ?? (await takeStock())
      stock = undefined
      assertRejected(row, await send(row))
      await assertNothingLeft(before)
      stock = before
    })

  test('17: X-Request-Id of 10,000 characters is ignored and a new one made', async () => {
    for (const id of ['x'.repeat(10_000), 'a b', 'x'.repeat(129)]) {
      const { headers } = await mallory.get(UPSCALE, { 'x-request-id': id })
      assert.match(headers.get('x-request-id') ?? '', /^[\da-f-]{36}$/)
    }
    const { headers } = await mallory.get(UPSCALE, { 'x-request-id': 'mine_1.2-3' })
    assert.equal(headers.get('x-request-id'), 'mine_1.2-3')
  })
})

/** Serves the image that a path of the receiver names. */
const serveImages: Parameters<typeof startReceiver>[0] = (request, response) => {
  const serve = async () => {
    const [, what = '', number = ''] = (request.url ?? '').split('/')
    if (what === 'size')
      return response.end(await makePicture({ width: Number(number), height: 500 }))
    if (what === 'hop')
      return response
        .writeHead(302, { location: number === '0' ? '/size/16' : `/hop/${Number(number) - 1}` })
        .end()
    if (what === 'to')
      return response.writeHead(301, { location: decodeURIComponent(number) }).end()
    if (what === 'long') return response.end(Buffer.alloc(IMAGE_MAX_BYTES + 1))
    if (what === 'text') return response.end('no image at all')
    if (what === 'status') return response.writeHead(Number(number)).end()
    if (what === 'hollow') return response.end(makeHollowPng(20_000, 20_000))
    // The first byte comes, the second never does.
    return response.writeHead(200, { 'content-length': 1000 }).write('x')
  }
  void serve()
}

const byUrl = (path: string) => (): object => ({
  image: `http://127.0.0.1:${receiver.port}/${path}`,
})

const to = (url: string) => byUrl(`to/${encodeURIComponent(url)}`)

/** Errors that only the worker can see: the response is 200, and the task fails. */
const FAILURES: [
  row: number,
  what: string,
  path: string,
  body: () => Promise<object> | object,
  code: string,
][] = [
  [38, 'a cut JPEG', UPSCALE, async () => ({ image: await cutJpeg() }), 'image_invalid'],
  [38, 'a PNG without pixels', UPSCALE, () => ({ image: hollow() }), 'image_invalid'],
  [
    41,
    'an upscale to too many pixels by URL',
    UPSCALE,
    () => ({ ...byUrl('size/300')(), scale_factor: '16x' }),
    'pixel_limit',
  ],
  [
    41,
    'a precision upscale too long by URL',
    PRECISION,
    () => ({ ...byUrl('size/700')(), scale_factor: 16 }),
    'pixel_limit',
  ],
  [41, 'too many pixels in the header', RELIGHT, byUrl('hollow'), 'pixel_limit'],
  [44, 'a redirect to a private address', UPSCALE, to('https://10.0.0.1/a.png'), 'address_refused'],
  [44, 'a redirect to cloud metadata', UPSCALE, to('https://169.254.169.254/'), 'address_refused'],
  [44, 'a redirect to another scheme', UPSCALE, to('file:///etc/passwd'), 'address_refused'],
  [44, 'six hops', UPSCALE, byUrl('hop/5'), 'download_failed'],
  [44, 'a file over IMAGE_MAX_BYTES', UPSCALE, byUrl('long'), 'file_too_large'],
  [44, 'a drip', UPSCALE, byUrl('drip'), 'download_failed'],
  [44, 'a status of 404', UPSCALE, byUrl('status/404'), 'download_failed'],
  [
    44,
    'a name that does not exist',
    UPSCALE,
    () => ({ image: 'https://no.such.host.invalid/' }),
    'download_failed',
  ],
  [44, 'a file that is no image', UPSCALE, byUrl('text'), 'image_invalid'],
]

const cutJpeg = async (): Promise<string> => {
  const whole = await makePicture({ width: 200, height: 200, format: 'jpeg' })
  return whole.subarray(0, whole.length / 2).toString('base64')
}

const hollow = (): string => makeHollowPng(100, 100).toString('base64')

describe('bad input that only the worker sees ends the task', { concurrency: true }, () => {
  for (const [row, what, path, body, code] of FAILURES)
    test(`${row}: ${what} with ${code}`, async () => {
      const sent = await body()
      const created = expectStatus(await mallory.post(path, sent), 200)
      const family = path.slice(IMAGE_API.length + 1)
      const { status, generated, error } = await mallory.untilEnded(
        family,
        created.body.data.task_id,
      )
      assert.deepEqual([status, generated, error?.code], ['FAILED', [], code], error?.message)
      // The host of the caller's own address may be named, and no other.
      const image = String((sent as { image?: unknown }).image)
      const own = URL.canParse(image) ? ` (${new URL(image).host})` : ''
      const message = error?.message.replace(own, '') ?? ''
      assert.doesNotMatch(message, /127\.0\.0\.1|10\.0\.0\.1|169\.254|\/tmp|at .*\.ts/)
    })

  test('44: five hops are followed', async () => {
    const created = await mallory.post(UPSCALE, byUrl('hop/4')())
    const { status } = await mallory.untilEnded('image-upscaler', created.body.data.task_id)
    assert.equal(status, 'COMPLETED')
  })
})

describe('12: what arrives too slowly', () => {
  for (const part of ['headers', 'body'] as const)
    test(`in its ${part} is 408, and the connection is closed`, async () => {
      const { status, headers, body, closed } = await slow[part]
      assert.deepEqual([status, body.error, closed], [408, 'request_timeout', true])
      assert.match(headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(headers.get('x-request-id'), body.request_id)
    })

  test('leaves its key free', async () => {
    const { sql } = service.database
    assert.equal((await sql`select from idempotency where principal = 'user:slow'`).length, 0)
  })
})
