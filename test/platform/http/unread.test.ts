import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Route } from '../../../src/platform/http/route.ts'
import type { SchemaNode } from '../../../src/platform/domain/validate.ts'
import { hasBounds } from '../../../src/platform/domain/time-bounds.ts'
import { expectStatus, IMAGE_API } from '../../support/client.ts'
import { listRoutes } from '../../support/contract.ts'
import { usePublisher, useRegistry } from '../../registry/http/registry-support.ts'

const UPSCALE = `${IMAGE_API}/image-upscaler`
const RELIGHT = `${IMAGE_API}/image-relight`
const IMAGE = { image: 'https://images.example.com/a.png' }
const STRICT = { prefer: 'handling=strict' }

const registry = useRegistry()
const owned = usePublisher(registry)

const routes = listRoutes()
const nameOf = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${path.replace(/^\/proxy\/.+?\/.*/, '/proxy')}`

/** Routes that ignore what nothing reads. A new route of Kiln's own does not belong here. */
const LENIENT = {
  'forms of the vendors': ['get /proxy', 'post /proxy'],
  "forms of the registry's clients": [
    'get /publishers',
    'post /publishers',
    'get /publishers/validate',
    'get /publishers/:publisherId',
    'put /publishers/:publisherId',
    'get /users/publishers/',
    'get /publishers/:publisherId/permissions',
    'get /publishers/:publisherId/nodes',
    'post /publishers/:publisherId/nodes',
    'get /publishers/:publisherId/nodes/v2',
    'put /publishers/:publisherId/nodes/:nodeId',
    'delete /publishers/:publisherId/nodes/:nodeId',
    'get /publishers/:publisherId/nodes/:nodeId/permissions',
    'post /publishers/:publisherId/nodes/:nodeId/versions',
    'put /publishers/:publisherId/nodes/:nodeId/versions/:versionId',
    'delete /publishers/:publisherId/nodes/:nodeId/versions/:versionId',
    'get /nodes',
    'get /nodes/search',
    'get /nodes/:nodeId',
    'get /nodes/:nodeId/install',
    'post /nodes/:nodeId/reviews',
    'get /nodes/:nodeId/versions',
    'get /nodes/:nodeId/versions/:version',
    'get /nodes/:nodeId/versions/:version/host-nodes',
    'post /nodes/:nodeId/versions/:version/host-nodes',
    'get /nodes/:nodeId/versions/:version/host-nodes/:hostNodeName',
    'get /host-nodes/:hostNodeName/node',
    'get /versions',
    'post /bulk/nodes/versions',
    'post /customers/storage',
  ],
  'a form of cog': ['post /engines/predictions/:id/:secret'],
  'addresses that are opened as they are': [
    'put /uploads/:id',
    'get /files/:id/:name',
    'get /archives/:publisherId/:nodeId/:version/node.zip',
    'get /nodes/:nodeId/icon',
    'get /nodes/:nodeId/banner',
    'get /publishers/:publisherId/logo',
    'get /',
    'get /docs',
    'get /docs/:page',
    'get /docs/assets/:name',
    'get /openapi.json',
    'get /openapi',
    'get /openapi.yml',
    'get /health',
    'get /ready',
  ],
}

describe('a route', () => {
  test('ignores what nothing reads only where its form is not our own', () => {
    const lenient = routes.filter(({ unread }) => unread === 'ignored').map(nameOf)
    assert.deepEqual([...new Set(lenient)].toSorted(), Object.values(LENIENT).flat().toSorted())
  })

  for (const route of routes.filter(({ unread, variants }) => unread !== 'ignored' && !variants))
    test(`of our own rejects a name that it does not know: ${route.method} ${route.path}`, async () => {
      const { method, body, rawBody } = route
      const path = route.path.replaceAll(/:\w+/g, 'x')
      const call = (at: string, given?: unknown) =>
        registry.admin.call(method.toUpperCase(), at, given)
      const [example = {}] = Object.values(body?.examples ?? {}) as object[]
      const details = async (response: Awaited<ReturnType<typeof call>>) =>
        expectStatus(response, 400, 'validation_failed').body.details?.join('\n') ?? ''
      assert.match(
        await details(
          await call(`${path}?surplus=1`, method === 'get' || rawBody ? undefined : example),
        ),
        /\?surplus must be absent/,
      )
      if (method === 'get' || rawBody) return
      const given = { ...example, surplus: null }
      assert.match(await details(await call(path, given)), /\/surplus must be absent/)
    })
})

/** Routes on which these words mean something else: days, versions, publishers, an end. */
const OTHERS = [
  '/usage',
  '/nodes/:nodeId/downloads',
  '/nodes/:nodeId/compare',
  '/workflows/check',
  '/publishers/:publisherId/nodes/:nodeId/transfer',
  '/admin/nodes/:nodeId/transfer',
  '/admin/pauses/:scope',
]
const WORDS = ['from', 'to', 'since', 'until']
const membersOf = (schema: SchemaNode | undefined): Record<string, SchemaNode> =>
  schema?.properties ?? {}
/** Schemas of what a caller filters by. */
const filtersOf = ({ query, body }: Pick<Route, 'query' | 'body'>) =>
  [query, body?.schema, membersOf(body?.schema)['filter']].filter((schema) =>
    WORDS.some((word) => word in membersOf(schema)),
  )

describe('a filter by time', () => {
  const AT = '2026-01-01T00:00:00Z'
  const timed = routes.filter(
    (route) => filtersOf(route).length > 0 && !OTHERS.includes(route.path),
  )

  test('has two words for each bound wherever there is one', () => {
    assert.ok(timed.length >= 10)
    for (const route of timed) assert.ok(filtersOf(route).every(hasBounds), route.path)
  })

  for (const route of timed)
    test(`takes one of them for each: ${route.method} ${route.path}`, async () => {
      const { method, query } = route
      const path = route.path.replaceAll(/:\w+/g, 'x')
      const both = { from: AT, since: AT, to: AT, until: AT }
      const body = membersOf(route.body?.schema)['filter']
        ? { action: 'cancel', filter: both }
        : both
      const response = query
        ? await registry.admin.get(`${path}?${new URLSearchParams(both).toString()}`)
        : await registry.admin.call(method.toUpperCase(), path, body)
      assert.equal(expectStatus(response, 400, 'incompatible_fields').body.details?.length, 2)
    })
})

describe('a request with a field that nothing reads', () => {
  for (const [path, body, meant] of [
    [UPSCALE, { webhookUrl: 'https://hooks.example.com' }, '/webhook_url'],
    [UPSCALE, { scale: '4x' }, '/scale_factor'],
    [UPSCALE, { callback_url: 'https://hooks.example.com' }, '/webhook_url'],
    [RELIGHT, { advanced_settings: { brightnes: 5 } }, '/advanced_settings/brightness'],
    ['/proxy/vidvendor/text2video', { prompt: 'sea', 'webhook-url': 'x' }, '/callback_url'],
  ] as const)
    test(`is rejected where ${meant} was meant by ${JSON.stringify(body)}`, async () => {
      const { body: error } = expectStatus(
        await owned.owner.post(path, path.includes('video') ? body : { ...IMAGE, ...body }),
        400,
        'validation_failed',
      )
      assert.ok(
        error.details?.some((one) => one.includes(`did you mean ${meant}?`)),
        error.message,
      )
    })

  test('is done, and the field is named in a header and in the dry run', async () => {
    const body = { ...IMAGE, size: '4x', 'größe, groß': 1 }
    const tried = expectStatus(await owned.owner.post(`${UPSCALE}?dry_run=true&x=1`, body), 200)
    assert.deepEqual(tried.body['ignored_fields'], ['?x', '/size', '/größe, groß'])
    const done = expectStatus(await owned.owner.post(UPSCALE, body), 200)
    assert.equal(done.headers.get('ignored-fields'), '/size, /gr%C3%B6%C3%9Fe%2C%20gro%C3%9F')
    const plain = expectStatus(await owned.owner.post(UPSCALE, IMAGE), 200)
    assert.equal(plain.headers.get('ignored-fields'), null)
  })

  test('is rejected whole where the caller prefers strict handling', async () => {
    const body = { ...IMAGE, size: '4x', other: null }
    const rejected = expectStatus(
      await owned.owner.post(UPSCALE, body, STRICT),
      400,
      'validation_failed',
    )
    assert.deepEqual(rejected.body.details, [
      '/size must be absent, because nothing reads it (got "4x")',
    ])
    assert.equal(rejected.headers.get('ignored-fields'), null)
    assert.equal(rejected.headers.get('preference-applied'), 'handling=strict')
    expectStatus(await owned.owner.post(UPSCALE, IMAGE, STRICT), 200)
    expectStatus(
      await registry.anonymous.get('/nodes?page=1&x=1', STRICT),
      400,
      'validation_failed',
    )
  })

  for (const wait of ['wait=abc', 'wait=0', 'wait'])
    test(`is rejected where the caller prefers strict handling and \`${wait}\``, async () => {
      const prefer = `${wait}, handling=strict`
      const { message } = expectStatus(
        await registry.anonymous.get('/nodes', { prefer }),
        400,
        'validation_failed',
      ).body
      assert.match(String(message), /^Prefer:wait must be a whole number of seconds, 1 or more/)
    })

  test('is named where it is one of the query', async () => {
    const near = expectStatus(
      await registry.anonymous.get('/versions?page_size=5'),
      400,
      'validation_failed',
    )
    assert.match(near.body.details?.[0] ?? '', /did you mean \?pageSize\?/)
    const far = expectStatus(await registry.anonymous.get('/versions?search=malware'), 200)
    assert.equal(far.headers.get('ignored-fields'), '?search')
  })

  test('is rejected where a credential is made or replaced', async () => {
    const { owner, path } = owned
    const before = expectStatus(await owner.get('/webhook-secret'), 200).body
    const endpoint = expectStatus(
      await owner.post('/endpoints', {
        url: 'https://hooks.example.com/a',
        events: ['image_task.completed'],
      }),
      201,
    ).body['id']
    for (const [route, body, message] of [
      ['/webhook-secret/rotate', { overlap: 0 }, /did you mean \/overlap_seconds\?/],
      ['/webhook-secret/rotate', { grace: 0 }, /^\/grace must be absent/],
      [`/endpoints/${String(endpoint)}/webhook-secret/rotate`, { grace: 0 }, /^\/grace/],
      ['/users/api-keys', { name: 'x', ttl: 60 }, /^\/ttl/],
      [`${path}/tokens`, { name: 'x', node: 'a' }, /^\/node/],
    ] as const) {
      const rejected = expectStatus(await owner.post(route, body), 400, 'validation_failed')
      assert.match(rejected.body.details?.[0] ?? '', message)
    }
    assert.deepEqual((await owner.get('/webhook-secret')).body, before)
    const sentBack = { name: 'x', id: 'x', createdAt: 'x', token: 'x' }
    expectStatus(await owner.post(`${path}/tokens`, sentBack), 201)
  })

  for (const [path, meant] of [
    ['/tasks?status=COMPLETED', 'state'],
    ['/admin/audit-log?limit=5', 'pageSize'],
    ['/versions?status=NodeVersionStatusActive', 'statuses'],
    ['/nodes?pageSize=5', 'limit'],
    ['/nodes/search?q=blur', 'search'],
    ['/nodes/search?repository=x', 'repository_url_search'],
  ] as const)
    test(`is rejected as the query name of another route: ${path}`, async () => {
      const { body } = expectStatus(await registry.admin.get(path), 400, 'validation_failed')
      assert.ok(body.details?.[0]?.includes(`did you mean ?${meant}?`), body.message)
    })

  test('names the cursor where a list goes on by one', async () => {
    for (const path of ['/tasks?page=2', '/batches?offset=20']) {
      const { body } = expectStatus(await owned.owner.get(path), 400, 'validation_failed')
      assert.match(
        body.details?.[0] ?? '',
        /because this list goes on by a cursor: \?after takes the next/,
      )
    }
  })

  test('deprecates no version by a typing error', async () => {
    const nodeId = await owned.addNode()
    const path = `${owned.path}/nodes/${nodeId}`
    expectStatus(await owned.owner.put(path, { descripton: 'x' }), 400, 'validation_failed')
    const admins = expectStatus(await owned.owner.put(path, { search_ranking: 1 }), 200)
    assert.equal(admins.headers.get('ignored-fields'), '/search_ranking')
  })
})
