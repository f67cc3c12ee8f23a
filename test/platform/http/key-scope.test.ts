import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { KeyScope } from '../../../src/platform/domain/key-scope.ts'
import type { Route } from '../../../src/platform/http/route.ts'
import { expectStatus, listOf, makeClient, pluck, UPSCALE } from '../../support/client.ts'
import { listRoutes } from '../../support/contract.ts'
import { openStream } from '../../support/event-stream.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { unique } from '../../registry/http/registry-support.ts'

/** Nothing is rendered: what is made stays open. */
const service = useService(
  { roles: ['api'], env: { ADMIN_SUBJECTS: 'root', OVERRIDE_RULES_INTERVAL_MS: '100' } },
  async ({ sql, client }) => {
    await sql`insert into template (name, digest, content, members) values ('portrait', '', '{}', '{}')`
    await waitFor(
      'the template is a kind',
      async () => listOf(await client().get('/templates'), 'templates').length > 0,
    )
  },
)
const { sql } = service

type Access = readonly KeyScope[] | 'all' | 'bearer'

const IMAGES = ['images'] as const
const TASKS = ['images', 'videos'] as const
const reading = (scopes: readonly KeyScope[]): KeyScope[] => [...scopes, 'read']

const endpointsAt = (path: string): string[] => [
  `POST ${path}`,
  `PUT ${path}/:endpoint_id`,
  `DELETE ${path}/:endpoint_id`,
  `POST ${path}/:endpoint_id/webhook-secret/rotate`,
  `POST ${path}/:endpoint_id/test`,
  `POST ${path}/:endpoint_id/redeliver`,
  `POST ${path}/:endpoint_id/events/:event_id/redeliver`,
]
const endpointReadsAt = (path: string): string[] => [
  `GET ${path}`,
  `GET ${path}/:endpoint_id`,
  `GET ${path}/:endpoint_id/events`,
  `GET ${path}/:endpoint_id/events/:event_id/attempts`,
]
const eachOf = (paths: readonly string[], make: (path: string) => string[]) => paths.flatMap(make)

const ENDPOINTS = ['/endpoints', '/publishers/:publisherId/endpoints', '/admin/endpoints']
const IMAGE_PATHS = [
  '/proxy/imgvendor/v1/ai/image-relight',
  '/proxy/imgvendor/v1/ai/image-upscaler',
  '/proxy/imgvendor/v1/ai/image-upscaler-precision-v2',
  '/proxy/imgvendor/v1/ai/skin-enhancer',
  '/templates/:name/tasks',
]
const VERSION = '/nodes/:nodeId/versions/:version'
const OWN_NODE = '/publishers/:publisherId/nodes/:nodeId'
const OWN_VERSION = `${OWN_NODE}/versions/:versionId`

/** Scopes of which a key needs one for each route; `all`: any key; `bearer`: no key whatever. None: a key without scopes. */
const ACCESS: readonly (readonly [Access, readonly string[]])[] = [
  [
    IMAGES,
    [
      ...eachOf(IMAGE_PATHS, (path) => [`POST ${path}/:task_id/cancel`]),
      ...IMAGE_PATHS.filter((path) => !path.endsWith('skin-enhancer')).map(
        (path) => `POST ${path}`,
      ),
      'POST /proxy/imgvendor/v1/ai/skin-enhancer/flexible',
      'POST /proxy/imgvendor/v1/ai/skin-enhancer/creative',
      'POST /proxy/imgvendor/v1/ai/skin-enhancer/faithful',
    ],
  ],
  [
    reading(IMAGES),
    [...eachOf(IMAGE_PATHS, (path) => [`GET ${path}`, `GET ${path}/:task_id`]), 'GET /templates'],
  ],
  [
    ['videos'],
    [
      'POST /proxy/vidvendor/text2video',
      'POST /proxy/vidvendor/img2video',
      'POST /proxy/vidvendor/start-end2video',
      'POST /proxy/vidvendor/extend',
      'POST /proxy/vidvendor/tasks/:task_id/cancel',
    ],
  ],
  [
    reading(['videos']),
    [
      'GET /proxy/vidvendor/tasks/:task_id/creations',
      'GET /proxy/vidvendor/tasks',
      'GET /proxy/vidvendor/credits',
    ],
  ],
  [
    TASKS,
    [
      'DELETE /tasks/:task_id',
      'POST /tasks/:task_id/events/:event_id/redeliver',
      'POST /events/redeliver',
      'POST /customers/storage',
      'DELETE /customers/storage/:id',
    ],
  ],
  [
    reading(TASKS),
    [
      'GET /usage',
      'GET /tasks',
      'GET /tasks/summary',
      'GET /tasks/stream',
      'GET /tasks/:task_id',
      // It reads what its maker may.
      'POST /tasks/:task_id/tokens',
      'GET /tasks/:task_id/stream',
      'GET /tasks/:task_id/events',
      'GET /tasks/:task_id/events/:event_id/attempts',
      'GET /events',
      // For platform admins, who come by no key with scopes.
      'GET /admin/tasks',
    ],
  ],
  [
    ['webhooks'],
    ['GET /webhook-secret', 'POST /webhook-secret/rotate', ...eachOf(ENDPOINTS, endpointsAt)],
  ],
  [reading(['webhooks']), eachOf(ENDPOINTS, endpointReadsAt)],
  [
    ['publish'],
    [
      'POST /publishers',
      'PUT /publishers/:publisherId',
      'PUT /publishers/:publisherId/logo',
      'DELETE /publishers/:publisherId/logo',
      'DELETE /publishers/:publisherId/members/:userId',
      'DELETE /publishers/:publisherId/tokens/:tokenId',
      'DELETE /publishers/:publisherId/transfers/:transferId',
      `DELETE ${OWN_NODE}/trusted-publishers/:trustedPublisherId`,
      'POST /publishers/:publisherId/nodes',
      `PUT ${OWN_NODE}`,
      `DELETE ${OWN_NODE}`,
      `PUT ${OWN_NODE}/icon`,
      `DELETE ${OWN_NODE}/icon`,
      `PUT ${OWN_NODE}/banner`,
      `DELETE ${OWN_NODE}/banner`,
      'POST /registry/check',
      `POST ${OWN_NODE}/versions`,
      `PUT ${OWN_VERSION}`,
      `DELETE ${OWN_VERSION}`,
      `POST ${OWN_VERSION}/review`,
      `POST ${OWN_VERSION}/confirm-host-nodes`,
      `PUT ${OWN_NODE}/reviews/:reviewId/reply`,
      'POST /nodes/:nodeId/reports',
      'PUT /nodes/:nodeId/reviews/mine',
      'POST /nodes/:nodeId/reviews',
      'DELETE /nodes/:nodeId/reviews/mine',
      'POST /nodes/:nodeId/reviews/:reviewId/report',
      `POST ${VERSION}/host-nodes`,
    ],
  ],
  [
    reading(['publish']),
    [
      'GET /publishers/:publisherId/members',
      'GET /publishers/:publisherId/tokens',
      'GET /publishers/:publisherId/permissions',
      'GET /publishers/:publisherId/transfers',
      'GET /publishers/:publisherId/logo',
      `GET ${OWN_NODE}/trusted-publishers`,
      'GET /publishers/:publisherId/trusted-publishers',
      `GET ${OWN_NODE}/permissions`,
      'GET /nodes/:nodeId/icon',
      'GET /nodes/:nodeId/banner',
      'GET /nodes/:nodeId/reports/mine',
      'GET /nodes/:nodeId/reviews/mine',
      `GET ${VERSION}/stream`,
    ],
  ],
  [
    ['read'],
    [
      'GET /users',
      'GET /batches',
      'GET /batches/:id',
      'GET /batches/:id/results',
      'GET /operations',
      'GET /operations/:id',
      'GET /operations/:id/results',
      'GET /admin/reports',
      'GET /admin/reviews',
      'GET /admin/audit-log',
      'GET /admin/operations',
      'GET /admin/tasks/:id/explanation',
      'GET /admin/instances',
      'GET /admin/pauses',
      'GET /admin/pauses/:scope',
      'GET /admin/owners',
      'GET /admin/owners/:owner',
    ],
  ],
  [
    [],
    [
      'POST /batches',
      'POST /batches/:id/cancel',
      'POST /operations',
      'POST /operations/:id/cancel',
      'POST /admin/invitations',
      'POST /admin/reports/:reportId/close',
      'PUT /admin/nodes/:nodeId',
      'PUT /admin/nodes/:nodeId/versions/:version',
      'PUT /admin/nodes/:nodeId/host-nodes/:hostNodeName',
      'PUT /admin/nodes/:nodeId/reviews/:reviewId',
      'POST /admin/nodes/:nodeId/versions/:version/retry',
      'POST /admin/publishers/:publisherId/ban',
      'POST /admin/publishers/:publisherId/unban',
      'POST /admin/tasks/:id/restart',
      'POST /admin/tasks/:id/fail',
      'POST /admin/versions/:id/restart',
      'POST /admin/instances/:id/drain',
      'POST /admin/instances/:id/resume',
      'PUT /admin/pauses/:scope',
      'DELETE /admin/pauses/:scope',
      'PUT /admin/owners/:owner',
      'DELETE /admin/owners/:owner',
    ],
  ],
  [
    'bearer',
    [
      'POST /users/api-keys',
      'GET /users/api-keys',
      'DELETE /users/api-keys/:id',
      'PUT /publishers/:publisherId/members/:userId',
      'POST /publishers/:publisherId/tokens',
      `POST ${OWN_NODE}/publish-tokens`,
      `POST ${OWN_NODE}/trusted-publishers`,
      `POST ${OWN_NODE}/transfer`,
      'POST /publishers/:publisherId/transfers/:transferId/accept',
      'POST /admin/nodes/:nodeId/transfer',
    ],
  ],
  [
    'all',
    [
      'GET /publishers/validate',
      'GET /publishers/:publisherId',
      'GET /publishers',
      'GET /users/publishers/',
      'GET /publishers/:publisherId/nodes',
      'GET /publishers/:publisherId/nodes/v2',
      'GET /nodes/search',
      'GET /nodes',
      'GET /nodes/:nodeId',
      'GET /nodes/:nodeId/downloads',
      'GET /nodes/:nodeId/versions',
      'GET /nodes/:nodeId/install',
      'GET /nodes/:nodeId/compare',
      'GET /nodes/:nodeId/reviews',
      `GET ${VERSION}`,
      `GET ${VERSION}/findings`,
      `GET ${VERSION}/host-nodes`,
      `GET ${VERSION}/host-nodes/:hostNodeName`,
      `GET ${VERSION}/example-workflows`,
      `GET ${VERSION}/files`,
      `GET ${VERSION}/files/content`,
      'GET /versions',
      'GET /host-nodes/:hostNodeName/node',
      'GET /archives/:publisherId/:nodeId/:version/node.zip',
      'POST /bulk/nodes/versions',
      'POST /workflows/resolve',
      'POST /workflows/check',
      // These have a secret of their own, or none.
      `POST ${OWN_NODE}/token-exchange`,
      'PUT /uploads/:id',
      'POST /engines/predictions/:id/:secret',
      'GET /files/:id/:name',
      'GET /health',
      'GET /ready',
      'GET /service',
      'GET /',
      'GET /docs',
      'GET /docs/:page',
      'GET /docs/assets/:name',
      'GET /openapi.json',
      'GET /openapi',
      'GET /openapi.yml',
    ],
  ],
]

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`
const ROUTES = new Map(listRoutes().map((route) => [nameOf(route), route]))
const EXPECTED = new Map(
  ACCESS.flatMap(([access, routes]) => routes.map((route) => [route, access] as const)),
)

const keyOf = async (user: string, scopes?: readonly KeyScope[]): Promise<string> => {
  const body = { name: 'some', ...(scopes && { scopes }) }
  const made = await service.client(user).post('/users/api-keys', body)
  return String(expectStatus(made, 201).body['key'])
}
const clientOf = async (user: string, scopes?: readonly KeyScope[]) => {
  const key = await keyOf(user, scopes)
  return makeClient(() => service.baseUrl, key)
}

/** Asks without reading what has no end. Returns the error's code and message. */
const askWith = async (key: string, name: string, params: Record<string, string> = {}) => {
  const [method = '', route = ''] = name.split(' ')
  const path = route.replaceAll(
    /:(\w+)/g,
    (_, param: string) => params[param] ?? (param === 'name' ? 'portrait' : randomUUID()),
  )
  const response = await fetch(service.baseUrl + path, {
    method,
    redirect: 'manual',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(method === 'POST' || method === 'PUT' ? { body: '{}' } : {}),
  })
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  if (isJson) return (await response.json()) as { error?: string; message?: string }
  await response.body?.cancel()
  return {}
}

describe('an API key', () => {
  test('has each route in the table of what it may, and the table no other', () => {
    const missing = [...ROUTES.keys()].filter((name) => !EXPECTED.has(name))
    assert.deepEqual(missing, [], 'say in ACCESS which scopes these routes are for')
    assert.deepEqual(
      [...EXPECTED.keys()].filter((name) => !ROUTES.has(name)),
      [],
    )
  })

  for (const scope of KeyScope.enum)
    test(`of ${scope} leads where the table says, and nowhere else`, async () => {
      const key = await keyOf(unique('user'), [scope])
      for (const [name, access] of EXPECTED) {
        const { error, message = '' } = await askWith(key, name)
        const isAllowed = access === 'all' || (access !== 'bearer' && access.includes(scope))
        if (access === 'bearer') assert.match(message, /takes a bearer token/, name)
        else assert.equal(error === 'key_scope_insufficient', !isAllowed, `${name}: ${message}`)
      }
    })

  test('that has none leads everywhere but to what makes credentials or members: that takes a bearer token', async () => {
    const key = await keyOf('root')
    for (const [name, access] of EXPECTED) {
      if (access === 'all') continue
      const { error = '', message = '' } = await askWith(key, name)
      const seen = /takes a bearer token/.test(message) ? 'bearer' : error
      if (access === 'bearer') assert.equal(seen, 'bearer', name)
      else assert.doesNotMatch(seen, /^(bearer|key_scope_insufficient)$/, `${name}: ${message}`)
    }
  })
})

describe('an API key of one family of tasks', () => {
  const user = unique('user')
  const owner = service.client(user)
  const tasks = { image: '', video: '', template: '' }
  before(async () => {
    const hook = 'https://hooks.example.com/kiln'
    tasks.image = await owner.createImage({ webhook_url: hook })
    tasks.template = await owner.createImage({ webhook_url: hook })
    await sql`
      update task set kind = 'custom/portrait', segment = 'templates' where id = ${tasks.template}
    `
    const film = { prompt: 'red', model: 'videoq2-turbo', duration: 1, callback_url: hook }
    tasks.video = await owner.createVideo(film)
    await sql`update event set state = 'exhausted' where task_id = any(${Object.values(tasks)}::uuid[])`
  })

  const OF_ANY_TASK = [...ROUTES]
    .filter(
      ([name]) => EXPECTED.get(name)?.includes('videos') && EXPECTED.get(name)?.includes('images'),
    )
    .map(([name]) => name)
  const OF_ONE = OF_ANY_TASK.filter((name) => name.includes(':task_id'))

  const CASES = [
    ['images', ['image', 'template'], ['video']],
    ['videos', ['video'], ['image', 'template']],
  ] as const
  for (const [scope, own, others] of CASES) {
    test(`with ${scope} reads, follows, sends again and deletes no task of the other`, async () => {
      const key = await keyOf(user, [scope])
      assert.ok(OF_ONE.length >= 6)
      for (const name of OF_ONE)
        for (const kind of others) {
          const { error, message } = await askWith(key, name, { task_id: tasks[kind] })
          assert.equal(error, 'key_scope_insufficient', `${name} of ${kind}`)
          assert.match(String(message), /^This task needs an API key with the scope/)
        }
      for (const name of OF_ONE.filter((each) => each.startsWith('GET')))
        for (const kind of own) {
          const { error } = await askWith(key, name, { task_id: tasks[kind] })
          assert.notEqual(error, 'key_scope_insufficient', `${name} of ${kind}`)
        }
      const [{ n } = { n: 0 }] = await sql<{ n: number }[]>`
        select count(*)::int as n from task
        where id = any(${Object.values(tasks)}::uuid[]) and delete_requested_at is null
      `
      assert.equal(n, 3)
    })

    test(`with ${scope} finds in no list a task of the other`, async () => {
      const client = await clientOf(user, [scope])
      const ids = own.map((kind) => tasks[kind])
      const lists = OF_ANY_TASK.filter(
        (name) => /^GET [^:]+$/.test(name) && !name.includes('admin'),
      )
      assert.deepEqual(lists.toSorted(), [
        'GET /events',
        'GET /tasks',
        'GET /tasks/stream',
        'GET /tasks/summary',
        'GET /usage',
      ])
      const listed = listOf(await client.get('/tasks'), 'tasks')
      assert.deepEqual(pluck(listed, 'task_id').toSorted(), ids.toSorted())
      for (const kind of ['text2video', 'upscale', 'custom/portrait'])
        for (const { task_id: id } of listOf(await client.get(`/tasks?kind=${kind}`), 'tasks'))
          assert.ok(ids.includes(String(id)), kind)
      const events = listOf(await client.get('/events'), 'events')
      assert.deepEqual(new Set(pluck(events, 'task_id')), new Set(ids))
      const { open, exhausted_deliveries: exhausted } = (await client.get('/tasks/summary'))
        .body as unknown as { open: Record<string, number>; exhausted_deliveries: number }
      const [{ n } = { n: 0 }] = await sql<{ n: number }[]>`
        select count(*)::int as n from event where task_id = any(${ids}::uuid[]) and state = 'exhausted'
      `
      assert.deepEqual([Object.values(open).reduce((a, b) => a + b, 0), exhausted], [ids.length, n])
      const stream = await openStream(`${service.baseUrl}/tasks/stream`, {
        'x-api-key': await keyOf(user, [scope]),
      })
      const seen = new Set<unknown>()
      while (seen.size < ids.length) seen.add((await stream.next())?.data['task_id'])
      await stream[Symbol.asyncDispose]()
      assert.deepEqual(seen, new Set(ids))
    })

    test(`with ${scope} counts no task of the other in its usage, also by CSV`, async () => {
      await sql`
        insert into usage (day, owner, kind, key, value, done)
        select current_date, ${user}, kind, '', '', 1
        from unnest(array['upscale', 'custom/portrait', 'text2video', 'extend']) kind
        on conflict do nothing
      `
      const client = await clientOf(user, [scope])
      const { body } = expectStatus(await client.get('/usage?by=kind'), 200)
      const kinds = pluck(body['groups'] as unknown as object[], 'group').toSorted()
      const expected = { images: ['custom/portrait', 'upscale'], videos: ['extend', 'text2video'] }
      assert.deepEqual(kinds, expected[scope])
    })

    test(`with ${scope} sends again the events of its own tasks alone`, async () => {
      const client = await clientOf(user, [scope])
      await client.post('/events/redeliver', { since: '2026-01-01T00:00:00Z' })
      const rows = await sql<{ taskId: string }[]>`
        select distinct e.task_id as "taskId" from redelivery d join event e on e.id = d.event_id
      `
      const ids = new Set(rows.map(({ taskId }) => taskId))
      await sql`delete from redelivery`
      assert.deepEqual(ids, new Set(own.map((kind) => tasks[kind])))
    })
  }

  test('with read beside it reads the others, too, and changes none', async () => {
    const client = await clientOf(user, ['images', 'read'])
    assert.equal(listOf(await client.get('/tasks'), 'tasks').length, 3)
    expectStatus(await client.get(`/tasks/${tasks.video}`), 200)
    const rejected = await client.delete(`/tasks/${tasks.video}`)
    expectStatus(rejected, 403, 'key_scope_insufficient')
  })

  test('finds no task of another owner', async () => {
    const client = await clientOf(unique('user'), ['videos'])
    expectStatus(await client.get(`/tasks/${tasks.image}`), 404, 'task_not_found')
    expectStatus(await client.get(`${UPSCALE}/${tasks.image}`), 403, 'key_scope_insufficient')
  })
})
