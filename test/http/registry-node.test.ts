import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { expectStatus, unique, usePublisher, useRegistry } from './registry-support.ts'

const ORIGIN = 'https://registry.example.com'

const registry = useRegistry({ env: { CORS_ORIGINS: ORIGIN } })
const owned = usePublisher(registry)

describe('a node', () => {
  test('has every member that is always there', async () => {
    const nodeId = await owned.addNode()
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
    const nodeId = await owned.addNode({ name: 'N', author: 'a', tags: ['x'] })
    const put = (fields: object) =>
      owned.owner.put(`${owned.path}/nodes/${nodeId.toUpperCase()}`, fields)
    const given = { id: nodeId, name: '', tags: [], search_ranking: 'high', status: 5, icon: null }
    const { body } = expectStatus(await put(given), 200)
    assert.deepEqual(
      [body['name'], body['tags'], body['author'], body['search_ranking'], body['status']],
      [nodeId, [], 'a', 5, 'NodeStatusActive'],
    )
    expectStatus(await put({ id: 'other' }), 400, 'id_mismatch')
    const url = expectStatus(await put({ icon: 'javascript:1' }), 400, 'url_refused')
    assert.match(url.body.details?.[0] ?? '', /^\/icon/)
  })

  test('is 304 until something a reader sees of it changes', async () => {
    const nodeId = await owned.addNode()
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
    const { owner, path: own } = owned
    await expectChange('first', () => Promise.resolve())
    await expectChange('edit', () => owner.put(`${own}/nodes/${nodeId}`, { name: 'x' }))
    await expectChange('publisher', () => owner.put(own, { name: unique('x') }))
    await expectChange('version', () => owned.addActive({ nodeId }))
    await expectChange('download', () => registry.anonymous.get(`${path}/install`))
    await expectChange('ranking', () => registry.admin.put(`/admin${path}`, { search_ranking: 1 }))
    const head = await registry.anonymous.call('HEAD', path)
    assert.deepEqual([head.status, head.headers.get('etag')], [200, etag])
  })

  test('is compared with If-Match', async () => {
    const nodeId = await owned.addNode()
    const etag = (await registry.anonymous.get(`/nodes/${nodeId}`)).headers.get('etag') ?? ''
    const path = `${owned.path}/nodes/${nodeId}`
    const put = () => owned.owner.put(path, { name: 'x' }, { 'if-match': etag })
    expectStatus(await put(), 200)
    expectStatus(await put(), 412, 'precondition_failed')
  })

  test('of another publisher is not found', async () => {
    const nodeId = await owned.addNode()
    const other = await registry.addPublisher()
    const path = `${other.path}/nodes/${nodeId}`
    expectStatus(await other.owner.put(path, {}), 404, 'node_not_found')
    expectStatus(await other.owner.delete(path), 404, 'node_not_found')
  })
})

describe('a page of another origin', () => {
  const call = (path: string, headers: Record<string, string>, method = 'GET') =>
    fetch(registry.service.baseUrl + path, { method, headers })

  const EXPOSED =
    'X-Total-Count, X-Credits-Used, Location, Idempotent-Replayed, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset'
  const ALLOWED =
    'Authorization, Cache-Control, Pragma, Expires, Prefer, Last-Event-ID, traceparent'

  const missingOf = (list: string | null, names: string): string[] =>
    names.split(', ').filter((name) => !list?.split(', ').includes(name))

  test('may read what is public, whatever its origin', async () => {
    const nodeId = await owned.addNode()
    for (const path of [`/nodes/${nodeId}`, '/nodes', '/nodes/none-of-it']) {
      const { headers } = await call(path, { origin: 'https://other.example' })
      assert.equal(headers.get('access-control-allow-origin'), '*', path)
      assert.deepEqual(missingOf(headers.get('access-control-expose-headers'), EXPOSED), [])
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
      const asked = { origin, 'access-control-request-method': 'PUT' }
      const preflight = await call(owned.path, asked, 'OPTIONS')
      assert.equal(preflight.status, allowed === null ? 405 : 204)
      if (allowed !== null)
        assert.equal(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, PUT')
    }
    const asked = { origin: 'https://other.example', 'access-control-request-method': 'GET' }
    const read = await call('/nodes', asked, 'OPTIONS')
    assert.equal(read.status, 204)
    assert.deepEqual(missingOf(read.headers.get('access-control-allow-headers'), ALLOWED), [])
  })
})
