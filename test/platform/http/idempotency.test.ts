import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { makeSigner } from '../../../src/platform/adapters/signing.ts'
import { defineRoute, type Route } from '../../../src/platform/http/route.ts'
import { canonicalJson, fingerprintOf } from '../../../src/platform/json-body/fingerprint.ts'
import {
  IMAGE_API,
  IMAGE_URL,
  TEXT,
  UPSCALE,
  atOnce,
  expectStatus,
  makeClient,
  pluck,
} from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { holdRequest, type HeldRequest } from '../../support/held-request.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { startRoutes } from '../../support/routes.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

// No worker: a task stays CREATED, and nothing but the response is looked at.
const service = useService({ roles: ['api'] })
const { sql } = service
let picture: Buffer

before(async () => {
  picture = await makePicture({ width: 20, height: 12 })
})

interface User {
  name: string
  token: string
  client: Client
  /** Sends the creation of an upscale with a key. */
  create(key: Record<string, string>, body?: object): Promise<HttpResponse>
}

/** Every test has users of its own, so that none sees the keys of another. */
const newUser = async (): Promise<User> => {
  const name = `user-${randomUUID()}`
  const token = await service.token(name)
  const client = makeClient(service.baseUrl, token)
  const create: User['create'] = (key, body = { image: IMAGE_URL }) =>
    client.post(UPSCALE, body, key)
  return { name, token, client, create }
}

const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key })

const countTasks = async ({ name }: User): Promise<number> =>
  (await sql`select from task where owner = ${name}`).length

const countClaims = async ({ name }: User): Promise<number> =>
  (await sql`select from idempotency where principal = ${`user:${name}`}`).length

/** Headers that a repetition must bring again. */
const kept = ({ headers }: HttpResponse): Record<string, string | null> =>
  Object.fromEntries(
    ['location', 'x-credits-used', 'x-estimated-duration-seconds', 'content-type'].map((name) => [
      name,
      headers.get(name),
    ]),
  )

const assertReplays = (again: HttpResponse, first: HttpResponse): void => {
  assert.equal(again.status, first.status, JSON.stringify(again.body))
  assert.deepEqual(again.body, first.body)
  assert.deepEqual(kept(again), kept(first))
  assert.equal(first.headers.get('idempotent-replayed'), null)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
}

describe('a repeated POST', () => {
  for (const [path, field] of [
    [`${IMAGE_API}/image-relight`, 'image'],
    [TEXT, 'images'],
  ] as const)
    test(`a repeated POST of ${path} gets the first response and makes no second task`, async () => {
      const user = await newUser()
      const image = picture.toString('base64')
      const body = { prompt: 'warm', [field]: field === 'images' ? [image] : image }
      const headers = withKey()
      const first = expectStatus(await user.client.post(path, body, headers), 200)
      assertReplays(await user.client.post(path, body, headers), first)
      assert.equal(await countTasks(user), 1)
    })

  test('a repeated cancel gets the first response, where a new one would be a conflict', async () => {
    const { client } = await newUser()
    const path = `${UPSCALE}/${await client.createImage()}/cancel`
    const headers = withKey()
    const first = await client.post(path, {}, headers)
    assertReplays(await client.post(path, {}, headers), first)
    assert.equal((await client.post(path, {})).status, 409)
  })

  test('with its path in another spelling is the same', async () => {
    const { client } = await newUser()
    const headers = withKey()
    const id = `pub-${randomUUID()}`
    expectStatus(await client.post('/publishers', { id }), 201)
    const node = { id: `pack-${randomUUID()}` }
    const first = expectStatus(await client.post(`/publishers/${id}/nodes`, node, headers), 201)
    const spellings = [`${id}/nodes/`, `${id.toUpperCase()}/nodes`, `%70${id.slice(1)}/nodes`]
    for (const path of spellings)
      assertReplays(await client.post(`/publishers/${path}`, node, headers), first)
  })

  test('with another path is another request', async () => {
    const user = await newUser()
    const headers = withKey()
    expectStatus(await user.create(headers), 200)
    const path = `${IMAGE_API}/skin-enhancer/creative`
    expectStatus(await user.client.post(path, { image: IMAGE_URL }, headers), 200)
    assert.equal(await countTasks(user), 2)
  })

  test('of another user is another request', async () => {
    const [one, other] = [await newUser(), await newUser()]
    const headers = withKey()
    const [a, b] = [await one.create(headers), await other.create(headers)]
    assert.notEqual(a.body.data.task_id, b.body.data.task_id)
    assert.deepEqual([await countTasks(one), await countTasks(other)], [1, 1])
  })

  test('without a key is a new request', async () => {
    const user = await newUser()
    for (const _ of [1, 2]) await user.create({})
    assert.equal(await countTasks(user), 2)
  })

  test('after 24 hours is a new request', async () => {
    const user = await newUser()
    const headers = withKey()
    const first = await user.create(headers)
    await sql`
      update idempotency set created_at = created_at - interval '24 hours'
      where principal = ${`user:${user.name}`}
    `
    const second = await user.create(headers)
    assert.notEqual(second.body.data.task_id, first.body.data.task_id)
    assertReplays(await user.create(headers), second)
  })

  test('has the same key in quotes and without, of up to 255 characters', async () => {
    const { create } = await newUser()
    for (const key of ['a!~b', 'k'.repeat(255)]) {
      const first = await create(withKey(key))
      assertReplays(await create(withKey(`"${key}"`)), first)
    }
  })
})

describe('the body of a repetition', () => {
  // Each spelling of its own is in the tests of canonical bodies and of inline images.
  test('may have another order, blanks, escapes, and its image as a data URI', async () => {
    const user = await newUser()
    const image = picture.toString('base64')
    const send = async (body: string) =>
      await fetch(service.baseUrl + UPSCALE, {
        method: 'POST',
        headers: {
          ...withKey('spelled'),
          authorization: `Bearer ${user.token}`,
          'content-type': 'application/json',
        },
        body,
      })
    const first = await send(JSON.stringify({ image, hdr: 5, prompt: 'sea' }))
    const data = `data:image\\/png;base64,${picture.toString('base64url')}`
    const again = await send(`{ "prompt":"\\u0073ea", "hdr":5.0, "image":"${data}" }`)
    assert.equal(again.headers.get('idempotent-replayed'), 'true', await again.clone().text())
    assert.deepEqual(await again.json(), await first.json())
    assert.equal(await countTasks(user), 1)
  })

  const OTHERS: [string, string, object][] = [
    ['another setting', UPSCALE, { image: IMAGE_URL, hdr: 1 }],
    ['a member more', UPSCALE, { image: IMAGE_URL, other: 1 }],
    ['another address', UPSCALE, { image: `${IMAGE_URL}?` }],
    ['another query', `${UPSCALE}?a=1`, { image: IMAGE_URL }],
    ['an issue of its own', UPSCALE, { image: '' }],
  ]
  for (const [what, path, body] of OTHERS)
    test(`a repetition with ${what} is 422, and the first response stays`, async () => {
      const user = await newUser()
      const headers = withKey()
      const first = await user.create(headers)
      const other = await user.client.post(path, body, headers)
      expectStatus(other, 422, 'idempotency_mismatch')
      assert.equal(other.body.error_type, 'idempotency_mismatch')
      assertReplays(await user.create(headers), first)
      assert.equal(await countTasks(user), 1)
    })

  test('with another picture is 422', async () => {
    const { create } = await newUser()
    const headers = withKey()
    const other = await base64({ width: 20, height: 12, shade: 1 })
    await create(headers, { image: picture.toString('base64') })
    expectStatus(await create(headers, { image: other }), 422, 'idempotency_mismatch')
  })
})

describe('a repetition with a link to the same upload that was made in another hour', () => {
  const HOUR_MS = 3_600_000
  const linkOf = (link: string, hours: number): string => {
    const [, id = '', name = ''] = /\/files\/([^/]+)\/([^?]+)/.exec(link) ?? []
    const keys = [String(service.settings['SIGNING_KEYS'])]
    const signer = makeSigner({ keys, publicUrl: service.baseUrl, linkSeconds: 7200 })
    return signer.signFile(id, name, new Date(Date.now() + hours * HOUR_MS))
  }
  const upload = async ({ client }: User): Promise<string> => {
    const { body } = await client.post('/customers/storage', { file_name: 'a.png' })
    const links = body as unknown as { upload_url: string; download_url: string }
    await fetch(links.upload_url, { method: 'PUT', body: picture })
    return links.download_url
  }

  for (const [path, bodyOf] of [
    [UPSCALE, (image: string) => ({ image })],
    [TEXT, (image: string) => ({ prompt: 'warm', images: [image] })],
  ] as const)
    test(`a POST of ${path} is the same request`, async () => {
      const user = await newUser()
      const link = await upload(user)
      const headers = withKey()
      const first = expectStatus(await user.client.post(path, bodyOf(link), headers), 200)
      const later = linkOf(link, 1)
      assert.notEqual(later, link)
      assertReplays(await user.client.post(path, bodyOf(later), headers), first)
      const other = await user.client.post(path, bodyOf(await upload(user)), headers)
      expectStatus(other, 422, 'idempotency_mismatch')
      assert.equal(await countTasks(user), 1)
    })

  test('a link that has ended or is forged makes no task with a new key', async () => {
    const user = await newUser()
    const link = await upload(user)
    expectStatus(await user.create(withKey('ended'), { image: link }), 200)
    for (const image of [linkOf(link, -48), link.replace(/.$/, '!')]) {
      const again = await user.create(withKey('ended'), { image })
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      expectStatus(await user.create(withKey(), { image }), 400, 'url_refused')
    }
  })

  test('a key of an earlier release, which counted links as they are written, still replays', async () => {
    const user = await newUser()
    const body = { image: await upload(user) }
    const first = expectStatus(await user.create(withKey('old'), body), 200)
    const fingerprint = fingerprintOf('', canonicalJson(body))
    await sql`
      update idempotency set fingerprint = ${fingerprint} where principal = ${`user:${user.name}`}
    `
    assertReplays(await user.create(withKey('old'), body), first)
  })
})

describe('a key whose request was rejected', () => {
  const REJECTIONS: [string, object, Record<string, string>, number][] = [
    ['an issue in its body', { image: '' }, {}, 400],
    ['a broken picture', { image: 'QUJD' }, {}, 400],
    ['a body of another type', { image: IMAGE_URL }, { 'content-type': 'text/plain' }, 415],
  ]
  for (const [what, body, more, status] of REJECTIONS)
    test(`for ${what} may be used again at once`, async () => {
      const user = await newUser()
      const headers = withKey()
      const rejected = await user.client.post(UPSCALE, body, { ...headers, ...more })
      assert.equal(rejected.status, status)
      assert.equal(await countClaims(user), 0)
      expectStatus(await user.create(headers), 200)
    })

  test('because its client went away is free again', async () => {
    const user = await newUser()
    const held = await hold(user, 'gone')
    held.abort()
    await waitFor('the key is free', async () => (await countClaims(user)) === 0)
    expectStatus(await user.create(withKey('gone')), 200)
  })

  test('because its task was not there may be used again', async () => {
    const user = await newUser()
    const missing = await user.client.post(`${UPSCALE}/${randomUUID()}/cancel`, {}, withKey())
    expectStatus(missing, 404, 'task_not_found')
    assert.equal(await countClaims(user), 0)
  })
})

/** Begins a creation with a key and waits until it holds the key. */
const hold = async (
  user: User,
  key: string,
  { baseUrl = service.baseUrl, image = IMAGE_URL } = {},
): Promise<HeldRequest> => {
  const held = holdRequest({
    url: baseUrl + UPSCALE,
    headers: { authorization: `Bearer ${user.token}`, ...withKey(key) },
    body: { image },
  })
  await waitFor(
    'the key is held',
    async () =>
      (await sql`select from idempotency where principal = ${`user:${user.name}`} and key = ${key}`)
        .length === 1,
  )
  return held
}

const setLease = async ({ name }: User, seconds: number): Promise<void> => {
  await sql`
    update idempotency set lease_until = clock_timestamp() + make_interval(secs => ${seconds})
    where principal = ${`user:${name}`}
  `
}

const assertInFlight = (response: HttpResponse): void => {
  expectStatus(response, 409, 'idempotency_in_flight')
  assert.equal(response.body.error_type, 'idempotency_in_flight')
  assert.equal(response.headers.get('retry-after'), '1')
}

describe('a key whose request still runs', () => {
  test('a key whose request still runs is 409, and its response is repeated afterwards', async () => {
    const user = await newUser()
    const held = await hold(user, 'running')
    assertInFlight(await user.create(withKey('running')))
    const { body } = expectStatus(await held.finish(), 200)
    const again = await user.create(withKey('running'))
    assert.equal(again.body.data.task_id, body.data?.task_id)
    assert.equal(await countTasks(user), 1)
  })

  test('that lost its lease commits nothing', async () => {
    const user = await newUser()
    const held = await hold(user, 'lost', { image: picture.toString('base64') })
    // The held request renews its lease.
    const other = await waitFor('the key is taken over', async () => {
      await setLease(user, 0)
      const response = await user.create(withKey('lost'))
      return response.status === 200 && response
    })
    expectStatus(await held.finish(), 409, 'idempotency_in_flight')
    const rows = await sql<{ id: string }[]>`select id from task where owner = ${user.name}`
    assert.deepEqual(pluck(rows), [other.body.data.task_id])
    const inputs = (await service.listFiles()).filter((file) => file.includes('/inputs/'))
    const stored = await sql<{ storage_key: string }[]>`
      select storage_key from task_input where storage_key like 'inputs/%'
    `
    assert.equal(inputs.length, stored.length)
  })

  test('of twenty requests at once makes one task', async () => {
    const user = await newUser()
    const headers = withKey()
    const send = () => user.create(headers)
    const responses = await atOnce(20, send)
    for (const response of responses) if (response.status !== 200) assertInFlight(response)
    const done = [...responses.filter(({ status }) => status === 200), await send()]
    assert.equal(new Set(done.map(({ body }) => body.data.task_id)).size, 1)
    assert.equal(done.filter((a) => a.headers.get('idempotent-replayed') === null).length, 1)
    assert.equal(await countTasks(user), 1)
  })

  test('in a process that was killed is free when its lease ends', async () => {
    const user = await newUser()
    const second = await service.startSecondApi({ OVERRIDE_FAILPOINT: 'create.after-commit' })
    const atSecond = makeClient(second.baseUrl, user.token)
    await hold(user, 'killed', { baseUrl: second.baseUrl })
    // This one kills the process between its commit and its response, and the held one with it.
    await assert.rejects(atSecond.post(UPSCALE, { image: IMAGE_URL }, withKey('committed')))
    assert.equal(await second.entry.end(), 'SIGKILL')

    const retry = (key: string) => user.create(withKey(key))
    const known = await retry('committed')
    assert.equal(known.headers.get('idempotent-replayed'), 'true')
    assert.equal(await countTasks(user), 1)
    const [lease] = await sql<{ isShort: boolean }[]>`
      select lease_until <= clock_timestamp() + interval '10 seconds' as "isShort"
      from idempotency where key = 'killed'
    `
    assert.equal(lease?.isShort, true)
    await setLease(user, 3600)
    assertInFlight(await retry('killed'))
    await setLease(user, 0)
    assert.equal((await retry('killed')).status, 200)
    assert.equal(await countTasks(user), 2)
  })
})

const SECRETS: [string, object, string][] = [
  ['/users/api-keys', { name: 'nightly' }, 'kiln_key_'],
  ['/customers/storage', { file_name: 'a.png' }, 'signature='],
  [TEXT, { images: [await base64()] }, 'signature='],
]
for (const [path, body, secret] of SECRETS)
  test(`a response that holds a secret of ${path} is repeated, and never stored in clear`, async () => {
    const { name, client } = await newUser()
    const headers = withKey()
    const first = await client.post(path, body, headers)
    assert.ok(JSON.stringify(first.body).includes(secret))
    assertReplays(await client.post(path, body, headers), first)
    const [row] = await sql<{ encrypted: boolean; text: string }[]>`
      select encrypted, i::text as text from idempotency i where principal = ${`user:${name}`}
    `
    assert.equal(row?.encrypted, true)
    assert.ok(!row?.text.includes(secret), row?.text)
  })

test('a key on anything but a POST is ignored', async () => {
  const user = await newUser()
  for (const key of ['x', 'not "a" key']) {
    const { status, headers } = await user.client.get(UPSCALE, withKey(key))
    assert.deepEqual([status, headers.get('idempotent-replayed')], [200, null])
  }
  const { body } = await user.client.post('/customers/storage', { file_name: 'a' })
  const { upload_url: url } = body as unknown as { upload_url: string }
  for (const bytes of ['one', 'two']) {
    const put = await fetch(url, { method: 'PUT', body: bytes, headers: withKey('same') })
    assert.deepEqual([put.status, put.headers.get('idempotent-replayed')], [200, null])
  }
  assert.equal(await countClaims(user), 0)
})

describe('a route that forgets to save the response of a request with a key', () => {
  const FORGETFUL = {
    method: 'post',
    path: '/forgetful',
    tag: 'Test',
    summary: 'Test',
    auth: 'none',
    responses: { 200: { description: 'Done' } },
    errors: [],
    handler: () => Promise.resolve({ status: 200, body: { done: true } }),
  } as const

  test('does not compile', () => {
    // @ts-expect-error the response of its handler was not saved
    assert.equal(defineRoute(FORGETFUL).path, '/forgetful')
    assert.equal(defineRoute({ ...FORGETFUL, readsOnly: true }).path, '/forgetful')
  })

  test('a route that forgets its response is a 500; the server saves that of one that only reads', async () => {
    const reads = { ...FORGETFUL, path: '/reads', readsOnly: true }
    const server = await startRoutes([FORGETFUL, reads] satisfies Route[], { sql })
    const post = (path: string, headers = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        headers,
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
    try {
      const headers = withKey()
      assert.equal((await post('/forgetful', headers)).status, 500)
      assert.equal((await post('/forgetful')).status, 200)
      const first = await post('/reads', headers)
      const again = await post('/reads', headers)
      assert.deepEqual([again.status, await again.json()], [first.status, await first.json()])
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
    } finally {
      await server.close()
    }
  })
})
