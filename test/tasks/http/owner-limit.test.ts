import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { OwnerLimits } from '../../../src/tasks/domain/owner-limit.ts'
import { makeRateLimits } from '../../../src/platform/http/access/rate-limit.ts'
import {
  TEXT,
  UPSCALE,
  atOnce,
  columnsOf,
  expectStatus,
  listOf,
  makeClient,
  pluck,
  statusesOf,
} from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { unique } from '../../registry/http/registry-support.ts'

// Nothing is rendered: what is made stays open.
const service = useService({
  roles: ['api'],
  env: {
    ADMIN_SUBJECTS: 'root',
    OWNER_CREDIT_LIMIT: '1000000',
    VIDEO_CONCURRENCY_PER_OWNER: '5',
    RATE_LIMITS: '1000',
    OVERRIDE_RULES_INTERVAL_MS: '100',
  },
})
const { sql, anonymous } = service
const root = service.client('root')

const pathOf = (owner: string) => `/admin/owners/${encodeURIComponent(owner)}`
const put = async (owner: string, limits: object) =>
  expectStatus(await root.put(pathOf(owner), limits), 200).body as unknown as OwnerLimits
const makeOwner = () => {
  const owner = unique('owner')
  return { owner, client: service.client(owner) }
}
/** Body of the shortest video. */
const FILM = { prompt: 'red', model: 'videoq2-turbo', resolution: '540p', duration: 1 }

describe('limits of an owner', () => {
  test('of open tasks are exact in both families, however many come at once', async () => {
    const { owner, client } = makeOwner()
    await put(owner, { task_limit: 3 })
    const image = await base64()
    const made = await atOnce(12, (index) =>
      index % 2 === 0 ? client.post(UPSCALE, { image }) : client.post(TEXT, FILM),
    )
    assert.equal(statusesOf(made).filter((status) => status === 200).length, 3)
    const rejected = made.find(({ status }) => status === 429)
    assert.match(String(rejected?.body['message']), /^The caller has 3 open tasks and may have 3:/)
    await put(owner, { task_limit: 1 })
    for (const [path, body] of [
      [UPSCALE, { image }],
      [TEXT, FILM],
      [`${TEXT}?dry_run=true`, FILM],
    ] as const) {
      const { message } = expectStatus(await client.post(path, body), 429, 'quota_exceeded').body
      assert.match(String(message), /^The caller has 3 open tasks and may have 1:/, path)
    }
    assert.equal((await put(owner, { task_limit: 4 })).used.tasks, 3)
    assert.equal((await client.post(TEXT, FILM)).status, 200)
  })

  test('of credits are exact, higher or lower than the setting, and shown to the caller', async () => {
    const { owner, client } = makeOwner()
    await put(owner, { credit_limit: 20 })
    const made = await atOnce(10, () => client.post(TEXT, FILM))
    assert.equal(statusesOf(made).filter((status) => status === 200).length, 3)
    assert.equal(statusesOf(made).filter((status) => status === 402).length, 7)
    const dry = await client.post(`${TEXT}?dry_run=true`, FILM)
    assert.equal(dry.body['error'], 'insufficient_credits')
    await put(owner, { credit_limit: 2_000_000, slots: 7 })
    const credits = expectStatus(await client.get('/proxy/vidvendor/credits'), 200)
    const [remains] = credits.body['remains'] as unknown as Record<string, number>[]
    assert.deepEqual([remains?.['credit_remain'], remains?.['concurrency_limit']], [1_999_982, 7])
  })

  test('of bytes are exact', async () => {
    const { owner, client } = makeOwner()
    const image = await base64()
    const bytes = Buffer.from(image, 'base64').length
    await put(owner, { byte_limit: 2 * bytes })
    const made = await atOnce(6, () => client.post(UPSCALE, { image }))
    assert.equal(statusesOf(made).filter((status) => status === 200).length, 2)
    const { used } = expectStatus(await root.get(pathOf(owner)), 200).body as unknown as OwnerLimits
    assert.equal(used.bytes, 2 * bytes)
  })

  test('of slots admit those that wait as soon as they are higher', async () => {
    const { owner, client } = makeOwner()
    await put(owner, { slots: 0 })
    const ids = await atOnce(3, () => client.createVideo(FILM))
    const waits = async () => pluck(listOf(await client.get('/tasks'), 'tasks'), 'waits_for')
    const QUEUED = 'It waits for a free video slot of its owner.'
    assert.deepEqual(await waits(), [QUEUED, QUEUED, QUEUED])
    assert.equal((await put(owner, { slots: 2 })).used.slots, 2)
    assert.deepEqual((await waits()).filter(Boolean), [QUEUED])
    const starts = await sql`
      select from outbox where kind = 'start'
        and workflow_id = any(${ids.map((id) => `video-task/${id}`)})
    `
    assert.equal(starts.length, 2)
    assert.equal((await put(owner, { slots: 1 })).used.slots, 2)
  })

  test('choose the engine of the tasks that are made from then on', async () => {
    const { owner, client } = makeOwner()
    await put(owner, { engine: 'vendor' })
    const engine = await waitFor('the engine is the one of the owner', async () => {
      const id = await client.createImage()
      const [row] = await sql<{ engine: string }[]>`select engine from task where id = ${id}`
      return row?.engine === 'vendor' && row.engine
    })
    assert.equal(engine, 'vendor')
  })

  test('multiply the numbers of requests', async () => {
    const { owner, client } = makeOwner()
    await put(owner, { rate_factor: 0.5 })
    await waitFor('the policy is the one of the owner', async () => {
      const { headers } = await client.post(TEXT, FILM)
      return headers.get('ratelimit-policy') === '"create";q=300000;w=60'
    })
    const limits = makeRateLimits(1)
    const { ratelimit } = await limits.take('read', 'a', 2)
    assert.match(String(ratelimit), /r=11999;/)
    assert.match(String((await limits.take('read', 'a'))['ratelimit']), /r=5999;/)
  })

  test('are listed, taken away, and in the log of changes', async () => {
    const { owner, client } = makeOwner()
    assert.equal((await root.get(pathOf(owner))).body['error'], 'owner_not_found')
    assert.equal((await root.delete(pathOf(owner))).body['error'], 'owner_not_found')
    const set = await put(owner, { task_limit: 0, note: 'asked for' })
    assert.equal(set.set_by, 'root')
    assert.match(String(set.warnings), new RegExp(`^Nobody with the id "${owner}" has called`))
    assert.equal((await client.post(TEXT, FILM)).status, 429)
    const list = expectStatus(await root.get('/admin/owners'), 200).body['owners']
    assert.ok((list as unknown as OwnerLimits[]).some((one) => one.owner === owner))
    expectStatus(await root.delete(pathOf(owner)), 204)
    assert.equal((await client.post(TEXT, FILM)).status, 200)
    const log = await root.get(`/admin/audit-log?target=${encodeURIComponent(`owner/${owner}`)}`)
    const entries = log.body['entries'] as unknown as { action: string; after: object }[]
    assert.deepEqual(
      entries.map(({ action, after }) => [action, after]),
      [
        ['owner.reset', {}],
        ['owner.limit', { task_limit: 0, note: 'asked for' }],
      ],
    )
  })

  test('are set again as they were read, and warn of nobody who has called', async () => {
    const { owner, client } = makeOwner()
    expectStatus(await client.post(TEXT, FILM), 200)
    await put(owner, { slots: 3, note: 'a contract' })
    const read = expectStatus(await root.get(pathOf(owner)), 200).body
    const { slots, note, warnings } = await put(owner, read)
    assert.deepEqual([slots, note, warnings], [3, 'a contract', undefined])
  })

  for (const [owner, body] of [
    ['anonymous', {}],
    ['anonymous:abc', {}],
    ['bob', { slots: -1 }],
    ['bob', { slots: 1.5 }],
    ['bob', { credit_limit: '5' }],
    ['bob', { rate_factor: 0 }],
    ['bob', { engine: 'warp' }],
    ['bob', { task_limt: 5 }],
    ['bob', { most_videos: 5 }],
  ] as const)
    test(`rejects ${JSON.stringify(body)} for ${owner}`, async () => {
      const response = await root.put(pathOf(owner), body)
      expectStatus(response, 400, 'validation_failed')
    })

  test('are for platform admins', async () => {
    const { owner, client } = makeOwner()
    for (const response of [
      await client.get('/admin/owners'),
      await client.get(pathOf(owner)),
      await client.put(pathOf(owner), { slots: 100 }),
      await client.delete(pathOf(owner)),
    ])
      expectStatus(response, 403, 'forbidden')
  })
})

describe('an API key with scopes or a cap', () => {
  const makeKey = async (given: object, user = unique('user')) => {
    const body = { name: 'some', ...given }
    const made = expectStatus(await service.client(user).post('/users/api-keys', body), 201).body
    return {
      user,
      id: String(made['id']),
      client: makeClient(() => service.baseUrl, String(made['key'])),
    }
  }
  const ROUTES = {
    image: (client: typeof anonymous) => client.post(UPSCALE, {}),
    video: (client: typeof anonymous) => client.post(TEXT, FILM),
    tasks: (client: typeof anonymous) => client.get('/tasks'),
    node: (client: typeof anonymous) => client.post('/publishers', {}),
    search: (client: typeof anonymous) => client.get('/nodes'),
  }
  const ALLOWED: Record<string, (keyof typeof ROUTES)[]> = {
    images: ['image', 'tasks', 'search'],
    videos: ['video', 'tasks', 'search'],
    read: ['tasks', 'search'],
    publish: ['node', 'search'],
  }
  for (const [scope, allowed] of Object.entries(ALLOWED))
    test(`of ${scope} gets 403 where that does not lead`, async () => {
      const { client } = await makeKey({ scopes: [scope] })
      for (const [name, call] of Object.entries(ROUTES)) {
        const { status, body } = await call(client)
        const isAllowed = allowed.includes(name as keyof typeof ROUTES)
        assert.equal(body?.['error'] === 'key_scope_insufficient', !isAllowed, `${name}: ${status}`)
        if (!isAllowed) assert.match(String(body['message']), /needs an API key with the scope/)
      }
    })

  test('is charged up to its cap, exactly, and gets back what is cancelled', async () => {
    const { client, user, id } = await makeKey({ credit_cap: 13 })
    const made = await atOnce(8, () => client.post(TEXT, FILM))
    assert.equal(statusesOf(made).filter((status) => status === 200).length, 2)
    const rejected = made.find(({ status }) => status === 402)
    assert.match(String(rejected?.body['message']), /the API key has 1 left of its cap of 13/)
    assert.equal((await client.post(`${TEXT}?dry_run=true`, FILM)).status, 402)
    // The owner goes on.
    assert.equal((await service.client(user).post(TEXT, FILM)).status, 200)
    const [first] = made.filter(({ status }) => status === 200)
    const path = `/proxy/vidvendor/tasks/${String(first?.body['task_id'])}/cancel`
    expectStatus(await client.post(path, {}), 200)
    assert.equal((await client.post(TEXT, FILM)).status, 200)
    const keys = listOf(await service.client(user).get('/users/api-keys'))
    assert.deepEqual(columnsOf(keys, 'id', 'credit_cap', 'credits_used'), [[id, 13, 12]])
  })

  test('is no platform admin, also where its owner is one', async () => {
    const { client } = await makeKey({ scopes: ['read'] }, 'root')
    expectStatus(await client.get('/admin/owners'), 403, 'forbidden')
    const { client: whole } = await makeKey({}, 'root')
    expectStatus(await whole.get('/admin/owners'), 200)
  })

  for (const given of [
    { scopes: [] },
    { scopes: ['all'] },
    { scopes: ['read', 'read'] },
    { credit_cap: -1 },
  ])
    test(`is not made with ${JSON.stringify(given)}`, async () => {
      const response = await service.client().post('/users/api-keys', { name: 'x', ...given })
      expectStatus(response, 400, 'validation_failed')
    })
})
