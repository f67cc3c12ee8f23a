import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer } from '../support/client.ts'
import {
  addActive,
  addVersion,
  expectStatus,
  listOf,
  makeNode,
  makePublisher,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

const ORIGIN = 'https://registry.example.com'

let registry: Registry
let owned: Owned

before(async () => {
  registry = await startRegistry({ CORS_ORIGINS: ORIGIN, SEARCH_MAX_DEPTH: '100' })
  owned = await makePublisher(registry)
})

after(() => registry?.stop())

const nodesOf = ({ body }: Answer): string[] =>
  (body['nodes'] as unknown as { id: string }[]).map(({ id }) => id)

describe('a node', () => {
  test('has every member that is always there', async () => {
    const nodeId = await makeNode(owned)
    const { body } = expectStatus(await registry.anonymous.get(`/nodes/${nodeId}`), 200)
    const { created_at, publisher, ...rest } = body as unknown as Record<string, unknown>
    assert.match(String(created_at), /Z$/)
    assert.equal((publisher as { id: string }).id, owned.id)
    assert.equal('members' in (publisher as object), false)
    assert.deepEqual(rest, {
      id: nodeId,
      name: nodeId,
      description: '',
      status: 'NodeStatusActive',
      downloads: 0,
      github_stars: 0,
      rating: 0,
      search_ranking: 5,
      tags: [],
      supported_os: [],
      supported_accelerators: [],
      preempted_host_node_names: [],
      tags_admin: [],
    })
  })

  test('is edited in part: empty clears, absent keeps, and what is not theirs is ignored', async () => {
    const nodeId = await makeNode(owned, { name: 'N', author: 'a', tags: ['x'] })
    const path = `/publishers/${owned.id}/nodes/${nodeId.toUpperCase()}`
    const given = { id: nodeId, name: '', tags: [], search_ranking: 'high', status: 5, icon: null }
    const { body } = expectStatus(await owned.owner.call('PUT', path, given), 200)
    assert.deepEqual(
      [body['name'], body['tags'], body['author'], body['search_ranking'], body['status']],
      [nodeId, [], 'a', 5, 'NodeStatusActive'],
    )
    expectStatus(await owned.owner.call('PUT', path, { id: 'other' }), 400, 'id_mismatch')
    expectStatus(await owned.owner.call('PUT', path, { tags: 'a' }), 400, 'validation_failed')
    const url = expectStatus(
      await owned.owner.call('PUT', path, { icon: 'javascript:1' }),
      400,
      'url_refused',
    )
    assert.match(url.body.details?.[0] ?? '', /^\/icon/)
  })

  test('is 304 until something a reader sees of it changes', async () => {
    const nodeId = await makeNode(owned)
    const path = `/nodes/${nodeId}`
    let etag = ''
    const expectChange = async (what: string, change: () => Promise<unknown>) => {
      await change()
      const { status, headers } = await registry.anonymous.get(path, { 'if-none-match': etag })
      assert.equal(status, 200, what)
      etag = headers.get('etag') ?? ''
      const again = await registry.anonymous.get(path, { 'if-none-match': `"x", W/${etag}` })
      assert.deepEqual([again.status, again.body], [304, undefined], what)
      assert.equal(again.headers.get('etag'), etag)
    }
    const own = `/publishers/${owned.id}`
    await expectChange('first', () => Promise.resolve())
    await expectChange('edit', () =>
      owned.owner.call('PUT', `${own}/nodes/${nodeId}`, { name: 'x' }),
    )
    await expectChange('publisher', () => owned.owner.call('PUT', own, { name: unique('x') }))
    await expectChange('version', () => addActive(registry, owned, { nodeId }))
    await expectChange('download', () => registry.anonymous.get(`${path}/install`))
    await expectChange('ranking', () =>
      registry.admin.call('PUT', `/admin/nodes/${nodeId}`, { search_ranking: 1 }),
    )
    const head = await registry.anonymous.call('HEAD', path)
    assert.deepEqual([head.status, head.headers.get('etag')], [200, etag])
  })

  test('is compared with If-Match', async () => {
    const nodeId = await makeNode(owned)
    const etag = (await registry.anonymous.get(`/nodes/${nodeId}`)).headers.get('etag') ?? ''
    const path = `/publishers/${owned.id}/nodes/${nodeId}`
    const put = () => owned.owner.call('PUT', path, { name: 'x' }, { 'if-match': etag })
    expectStatus(await put(), 200)
    expectStatus(await put(), 412, 'precondition_failed')
  })

  test('that is deleted is gone, and its id stays taken', async () => {
    const nodeId = await makeNode(owned)
    await addActive(registry, owned, { nodeId })
    const path = `/publishers/${owned.id}/nodes/${nodeId}`
    expectStatus(await owned.owner.call('DELETE', path), 204)
    const { anonymous, admin } = registry
    for (const tail of [
      '',
      '/versions',
      '/versions/1.0.0',
      '/install',
      '/versions/1.0.0/host-nodes',
    ])
      for (const client of [anonymous, admin])
        expectStatus(await client.get(`/nodes/${nodeId}${tail}`), 404, 'node_not_found')
    expectStatus(await owned.owner.call('PUT', path, {}), 404, 'node_not_found')
    expectStatus(await owned.owner.call('DELETE', path), 404, 'node_not_found')
    assert.deepEqual(nodesOf(await anonymous.get(`/nodes?node_id=${nodeId}`)), [])
    assert.deepEqual(nodesOf(await admin.get(`/nodes?node_id=${nodeId}&include_banned=true`)), [])
  })

  test('of another publisher is not found', async () => {
    const nodeId = await makeNode(owned)
    const other = await makePublisher(registry)
    const path = `/publishers/${other.id}/nodes/${nodeId}`
    expectStatus(await other.owner.call('PUT', path, {}), 404, 'node_not_found')
    expectStatus(await other.owner.call('DELETE', path), 404, 'node_not_found')
  })
})

describe('a list of nodes', () => {
  test('is walked page by page, each node once', async () => {
    const { id } = owned
    const mine = new Set<string>()
    for (let made = 0; made < 25; made += 1) mine.add(await makeNode(owned))
    const seen: string[] = []
    for (let page = 1, last = 1; page <= last; page += 1) {
      const { body } = await registry.anonymous.get(`/nodes?page=${page}&limit=10&unknown=1`)
      seen.push(...nodesOf({ body } as Answer))
      last = Number(body['totalPages'])
      assert.equal(body['totalPages'], Math.ceil(Number(body['total']) / 10))
    }
    assert.equal(new Set(seen).size, seen.length)
    for (const nodeId of mine) assert.ok(seen.includes(nodeId), nodeId)
    const own = await registry.anonymous.get(`/publishers/${id}/nodes?limit=1000`)
    const ids = listOf(own).map((node) => String(node['id']))
    assert.deepEqual(ids, ids.toSorted())
    assert.equal(own.headers.get('x-total-count'), String(ids.length))
    const past = await registry.anonymous.get('/nodes?page=1000')
    assert.deepEqual([past.status, past.body['nodes']], [200, []])
    assert.equal((await registry.anonymous.get('/nodes?page=2000000000&limit=1000')).status, 200)
  })

  test('has what changed since a time', async () => {
    const nodeId = await makeNode(owned)
    const { body } = await registry.anonymous.get(`/nodes/${nodeId}`)
    const since = encodeURIComponent(String(body['created_at']))
    assert.ok(
      nodesOf(await registry.anonymous.get(`/nodes?limit=1000&timestamp=${since}`)).includes(
        nodeId,
      ),
      nodeId,
    )
    const later = '2999-01-01T00:00:00Z'
    assert.deepEqual(nodesOf(await registry.anonymous.get(`/nodes?timestamp=${later}`)), [])
    for (const odd of ['2016-12-31T23:59:60Z', '0000-01-01T00:00:00Z'])
      assert.equal((await registry.anonymous.get(`/nodes?timestamp=${odd}`)).status, 200, odd)
    for (const bad of ['soon', '2026-02-30T00:00:00Z'])
      expectStatus(
        await registry.anonymous.get(`/nodes?timestamp=${bad}`),
        400,
        'validation_failed',
      )
  })

  test('is searched, also for what looks like a pattern', async () => {
    const word = unique('word').replace('-', '')
    const one = await makeNode(owned, { description: `${word} 100%`, supported_os: ['OS, X'] })
    const two = await makeNode(owned, {
      name: `${word} two`,
      repository: `https://x.org/${word}.git`,
    })
    const find = async (query: string) =>
      nodesOf(expectStatus(await registry.anonymous.get(`/nodes/search?${query}`), 200))
    assert.deepEqual(await find(`search=${word}`), [two, one])
    assert.deepEqual(await find(`search=${word}&supported_os=os,%20x&supported_os=y`), [one])
    assert.deepEqual(await find(`search=${word}&supported_os=`), [two, one])
    assert.deepEqual(await find(`repository_url_search=X.org/${word}`), [two])
    assert.deepEqual(await find(`search=${word}%25`), [])
    for (const odd of ['%25', '%5C', "'", '_'])
      assert.equal((await registry.anonymous.get(`/nodes/search?search=${odd}`)).status, 200, odd)
  })

  test('is not searched deeper than it may be', async () => {
    const refused = await registry.anonymous.get('/nodes/search?page=11&limit=10')
    expectStatus(refused, 400, 'validation_failed')
    assert.match(refused.body.message ?? '', /GET \/nodes/)
    expectStatus(
      await registry.anonymous.get('/versions?page=2&pageSize=100'),
      400,
      'validation_failed',
    )
  })

  const PATHS: [string, string, number][] = [
    ['/nodes', 'limit', 1000],
    ['/nodes/search', 'limit', 100],
    ['/versions', 'pageSize', 100],
    ['/users/publishers/', 'limit', 1000],
  ]
  for (const [path, size, most] of PATHS)
    test(`of ${path} has no page that is none`, async () => {
      const queries = ['0', '-1', 'abc', '1.5', '1e9', '99999999999', '1&page=2', '']
      for (const query of queries.map((page) => `page=${page}`))
        expectStatus(await registry.anonymous.get(`${path}?${query}`), 400, 'validation_failed')
      for (const value of ['0', String(most + 1), 'x'])
        expectStatus(
          await registry.anonymous.get(`${path}?${size}=${value}`),
          400,
          'validation_failed',
        )
    })
})

describe('a list of versions', () => {
  test('takes its statuses by repeated names', async () => {
    const nodeId = await makeNode(owned)
    await addActive(registry, owned, { nodeId, version: '1.0.0' })
    await addVersion(owned, { nodeId, version: '2.0.0' })
    const path = `/nodes/${nodeId}/versions`
    const numbersOf = async (query: string) =>
      listOf(await registry.anonymous.get(`${path}?${query}`)).map((version) => version['version'])
    const both = 'statuses=NodeVersionStatusActive&statuses=NodeVersionStatusPending'
    assert.deepEqual(await numbersOf(both), ['2.0.0', '1.0.0'])
    assert.deepEqual(await numbersOf('statuses=NodeVersionStatusActive'), ['1.0.0'])
    assert.deepEqual(await numbersOf('statuses[]=x'), ['2.0.0', '1.0.0'])
    for (const bad of ['Active', 'NodeVersionStatusActive,NodeVersionStatusPending'])
      expectStatus(
        await registry.anonymous.get(`${path}?statuses=${bad}`),
        400,
        'validation_failed',
      )
    expectStatus(await registry.anonymous.get('/nodes/none/versions'), 404, 'node_not_found')
  })

  test('of all nodes is narrowed by node, status and reason', async () => {
    const nodeId = await makeNode(owned)
    await addActive(registry, owned, { nodeId })
    await addVersion(owned, { nodeId, version: '2.0.0' })
    const find = async (query: string) => {
      const { body } = expectStatus(await registry.anonymous.get(`/versions?${query}`), 200)
      const versions = body['versions'] as unknown as { version: string }[]
      return [body['total'], versions.map(({ version }) => version)]
    }
    assert.deepEqual(await find(`nodeId=${nodeId.toUpperCase()}`), [2, ['2.0.0', '1.0.0']])
    assert.deepEqual(await find(`nodeId=${nodeId}&status_reason=PASSED`), [1, ['1.0.0']])
    assert.deepEqual(await find(`nodeId=${nodeId}&review_requested=true`), [2, ['2.0.0', '1.0.0']])
  })
})

describe('a page of another origin', () => {
  const call = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(registry.service.baseUrl + path, { method, headers })

  test('may read what is public, whatever its origin', async () => {
    const nodeId = await makeNode(owned)
    for (const path of [`/nodes/${nodeId}`, '/nodes', '/nodes/none-of-it']) {
      const { headers } = await call(path, { origin: 'https://other.example' })
      assert.equal(headers.get('access-control-allow-origin'), '*', path)
      assert.match(headers.get('access-control-expose-headers') ?? '', /X-Total-Count/)
    }
  })

  test('may call the rest when its origin is listed', async () => {
    for (const [origin, allowed] of [
      [ORIGIN, ORIGIN],
      ['https://other.example', null],
    ] as const) {
      const { headers, status } = await call('/users', { origin })
      assert.equal(status, 401)
      assert.equal(headers.get('access-control-allow-origin'), allowed)
      assert.match(headers.get('vary') ?? '', /Origin/)
      const preflight = await call(
        `/publishers/${owned.id}`,
        { origin, 'access-control-request-method': 'PUT' },
        'OPTIONS',
      )
      assert.equal(preflight.status, allowed === null ? 405 : 204)
      if (allowed !== null)
        assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, PUT')
    }
    const read = await call(
      '/nodes',
      { origin: 'https://other.example', 'access-control-request-method': 'GET' },
      'OPTIONS',
    )
    assert.equal(read.status, 204)
    assert.match(read.headers.get('access-control-allow-headers') ?? '', /Authorization/)
  })
})
