import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer, Client } from '../support/client.ts'
import {
  ADMIN,
  addActive,
  addFlagged,
  addVersion,
  expectStatus,
  listOf,
  makeNode,
  makePublisher,
  publish,
  startRegistry,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

let registry: Registry
let admin: Client

before(async () => {
  registry = await startRegistry()
  admin = registry.admin
})

after(() => registry?.stop())

interface Entry {
  actor: string
  action: string
  before: Record<string, unknown>
  after: Record<string, unknown>
  reason?: string
  request_id: string
}

const logOf = async (target: string): Promise<Entry[]> => {
  const path = `/admin/audit-log?target=${encodeURIComponent(target)}`
  return (await admin.get(path)).body['entries'] as unknown as Entry[]
}

/** Everything that a ban hides, as a reader sees it. */
const look = async ({ id }: Owned, nodeId: string) => {
  const { anonymous } = registry
  const paths = [
    `/publishers/${id}`,
    `/publishers/${id}/nodes`,
    `/nodes/${nodeId}`,
    `/nodes/${nodeId}/versions`,
    `/nodes/${nodeId}/versions/1.0.0`,
    `/nodes?node_id=${nodeId}`,
    `/nodes/search?search=${nodeId}`,
    `/versions?nodeId=${nodeId}`,
  ]
  const answers = await Promise.all(paths.map((path) => anonymous.get(path)))
  return answers.map(({ status, body }) => [status, body.error ?? withoutId(body)])
}

const withoutId = ({ request_id: _id, ...body }: Answer['body']) => body

describe('a ban of a publisher', () => {
  test('hides and refuses everything, and its end restores it', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    await addActive(registry, owned, { nodeId })
    const path = `/admin/publishers/${owned.id.toUpperCase()}`
    const before = await look(owned, nodeId)
    expectStatus(await admin.post(`${path}/ban`, {}), 400, 'validation_failed')
    const answer = expectStatus(await admin.post(`${path}/ban`, { reason: 'spam' }), 200)
    assert.equal(answer.body['status'], 'PublisherStatusBanned')
    expectStatus(await admin.post(`${path}/ban`, { reason: 'again' }), 200)
    const banned = await look(owned, nodeId)
    assert.deepEqual(
      banned.slice(0, 5).map(([, error]) => error),
      Array(5).fill('publisher_banned'),
    )
    assert.deepEqual(
      banned.slice(5).map(([, page]) => (page as unknown as { total: number }).total),
      [0, 0, 0],
    )
    const { owner, id } = owned
    const own = `/publishers/${id}`
    for (const refused of [
      await owner.get(own),
      await owner.call('PUT', own, {}),
      await owner.post(`${own}/nodes`, { id: 'fresh' }),
      await owner.post(`${own}/tokens`, { name: 'x' }),
      await owner.call('PUT', `${own}/nodes/${nodeId}`, {}),
      await owner.call('DELETE', `${own}/nodes/${nodeId}`),
      await publish(owned, { nodeId, version: '2.0.0' }),
    ]) {
      expectStatus(refused, 403, 'publisher_banned')
      assert.match(refused.body.message ?? '', /spam/)
    }
    expectStatus(await registry.anonymous.get(`/nodes/${nodeId}/install`), 403, 'publisher_banned')
    const hidden = await registry.anonymous.get(`/nodes/${nodeId}`)
    assert.doesNotMatch(hidden.body.message ?? '', /spam/)
    expectStatus(await admin.get(`/nodes/${nodeId}`), 200)
    expectStatus(await admin.get(own), 200)
    const shown = await admin.get(`/nodes?node_id=${nodeId}&include_banned=true`)
    assert.equal(shown.body['total'], 1)
    const ignored = await owner.get(`/nodes?node_id=${nodeId}&include_banned=true`)
    assert.equal(ignored.body['total'], 0)
    const bulk = await registry.anonymous.post('/bulk/nodes/versions', {
      node_versions: [{ node_id: nodeId, version: '1.0.0' }],
    })
    assert.equal(
      listOf({ ...bulk, body: bulk.body['node_versions'] as never })[0]?.['status'],
      'error',
    )
    expectStatus(await admin.post(`${path}/unban`, {}), 200)
    expectStatus(await admin.post(`${path}/unban`, {}), 200)
    assert.deepEqual(await look(owned, nodeId), before)
    const entries = await logOf(`publisher/${owned.id}`)
    assert.deepEqual(
      entries.map(({ action, actor }) => [action, actor]),
      [
        ['publisher.unban', ADMIN],
        ['publisher.ban', ADMIN],
      ],
    )
  })

  test('of none is not found', async () => {
    expectStatus(
      await admin.post('/admin/publishers/none/ban', { reason: 'x' }),
      404,
      'publisher_not_found',
    )
    expectStatus(await admin.post('/admin/publishers/none/unban', {}), 404, 'publisher_not_found')
  })
})

describe('a platform admin', () => {
  test('moderates a node by legal moves, each of which is logged', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    const path = `/admin/nodes/${nodeId}`
    const given = {
      search_ranking: 1,
      preempted_host_node_names: ['A'],
      tags_admin: ['t'],
      github_stars: 3,
    }
    const { body, headers } = expectStatus(await admin.call('PUT', path, given), 200)
    for (const [name, value] of Object.entries(given)) assert.deepEqual(body[name], value, name)
    const [entry] = await logOf(`node/${nodeId}`)
    assert.deepEqual([entry?.before['search_ranking'], entry?.after['search_ranking']], [5, 1])
    assert.equal(entry?.request_id, headers.get('x-request-id'))
    const banned = { status: 'NodeStatusBanned' }
    expectStatus(await admin.call('PUT', path, banned), 400, 'validation_failed')
    expectStatus(await admin.call('PUT', path, { ...banned, status_detail: 'malware' }), 200)
    const told = expectStatus(await owned.owner.get(`/nodes/${nodeId}`), 403, 'node_banned')
    assert.match(told.body.message ?? '', /malware/)
    const write = `/publishers/${owned.id}/nodes/${nodeId}`
    expectStatus(await owned.owner.call('PUT', write, {}), 403, 'node_banned')
    expectStatus(await owned.owner.call('DELETE', write), 403, 'node_banned')
    expectStatus(await publish(owned, { nodeId }), 403, 'node_banned')
    expectStatus(await registry.anonymous.get('/host-nodes/A/node'), 404, 'host_node_not_found')
    expectStatus(await admin.call('PUT', path, { status: 'NodeStatusDeleted' }), 200)
    const again = { status: 'NodeStatusBanned', status_detail: 'x' }
    expectStatus(await admin.call('PUT', path, again), 409, 'illegal_move')
    expectStatus(await admin.call('PUT', path, { status: 'NodeStatusActive' }), 200)
    expectStatus(await registry.anonymous.get(`/nodes/${nodeId}`), 200)
    expectStatus(await admin.call('PUT', '/admin/nodes/none', {}), 404, 'node_not_found')
  })

  test('decides on a review', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    const id = await addFlagged(registry, owned, { nodeId })
    const own = `/publishers/${owned.id}/nodes/${nodeId}/versions/${id}/review`
    const made = expectStatus(await owned.owner.post(own, { note: 'a test' }), 201)
    assert.deepEqual([made.body['version_id'], made.body['note']], [id, 'a test'])
    expectStatus(await owned.owner.post(own, {}), 409, 'review_already_requested')
    const open = await admin.get(`/versions?nodeId=${nodeId}&review_requested=true`)
    assert.equal(open.body['total'], 1)
    const path = `/admin/nodes/${nodeId}/versions/1.0.0`
    const activate = { status: 'NodeVersionStatusActive', status_reason: 'harmless' }
    // Its archive was never accepted.
    expectStatus(await admin.call('PUT', path, activate), 409, 'illegal_move')
    await registry.place.accept(id, id)
    const { body } = expectStatus(await admin.call('PUT', path, activate), 200)
    assert.deepEqual(
      [body['status'], body['status_reason']],
      ['NodeVersionStatusActive', 'harmless'],
    )
    const closed = await admin.get(`/versions?nodeId=${nodeId}&review_requested=true`)
    assert.equal(closed.body['total'], 0)
    const findings = await owned.owner.get(`/nodes/${nodeId}/versions/1.0.0/findings`)
    const [review] = findings.body['reviews'] as unknown as Record<string, unknown>[]
    assert.deepEqual([review?.['by'], typeof review?.['closed_at']], [owned.user, 'string'])
    expectStatus(await owned.owner.post(own, {}), 409, 'version_not_flagged')
  })

  test('bans a version for good, and its owner cannot delete it', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    const id = await addActive(registry, owned, { nodeId })
    const path = `/admin/nodes/${nodeId}/versions/1.0.0`
    const ban = { status: 'NodeVersionStatusBanned' }
    expectStatus(
      await admin.call('PUT', path, { ...ban, status_reason: ' ' }),
      400,
      'validation_failed',
    )
    expectStatus(await admin.call('PUT', path, { ...ban, status_reason: 'malware' }), 200)
    const own = `/publishers/${owned.id}/nodes/${nodeId}/versions/${id}`
    expectStatus(await owned.owner.call('DELETE', own), 409, 'illegal_move')
    const node = await registry.anonymous.get(`/nodes/${nodeId}`)
    assert.equal('latest_version' in node.body, false)
    expectStatus(await admin.call('PUT', path, { status: 'NodeVersionStatusDeleted' }), 200)
    expectStatus(await admin.call('PUT', path, ban), 400, 'validation_failed')
    expectStatus(
      await admin.call('PUT', path, { ...ban, status_reason: 'x' }),
      404,
      'version_not_found',
    )
  })

  test('sets policies of host nodes that are there', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    await addActive(registry, owned, { nodeId })
    const path = `/nodes/${nodeId}/versions/1.0.0`
    await registry.anonymous.post(`${path}/host-nodes`, { nodes: { A: {} } })
    const put = (policies: object) =>
      admin.call('PUT', `/admin${path}`, { host_node_policies: policies })
    expectStatus(await put({ A: 'HostNodePolicyLocalOnly' }), 200)
    expectStatus(await put({ B: 'HostNodePolicyBanned' }), 404, 'host_node_not_found')
    expectStatus(await put({ A: 'None' }), 400, 'validation_failed')
    const { body } = await registry.anonymous.get(`${path}/host-nodes/A`)
    assert.equal(body['policy'], 'HostNodePolicyLocalOnly')
  })

  test('has checks that gave up run again', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    const id = await addVersion(owned, { nodeId })
    const path = `/admin/nodes/${nodeId}/versions/1.0.0/retry`
    expectStatus(await admin.post(path, {}), 409, 'nothing_to_retry')
    await registry.place.receive(id, id)
    await registry.place.move(id, 'give_up_checks', 'checks could not run (storage)')
    const key = { 'idempotency-key': id }
    const { body } = expectStatus(await admin.post(path, {}, key), 200)
    assert.equal(body['status_reason'], 'archive received, checks are running')
    expectStatus(await admin.post(path, {}, key), 200)
    expectStatus(await admin.call('POST', path), 409, 'nothing_to_retry')
    const rows = await registry.service.database.sql`
      select kind from outbox where workflow_id = ${`publish-version/${id}`} order by id
    `
    assert.deepEqual(
      rows.map(({ kind }) => kind as string),
      ['start', 'restart'],
    )
  })

  test('is who may do it', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    await addActive(registry, owned, { nodeId })
    const calls: [string, string, object?][] = [
      ['PUT', `/admin/nodes/${nodeId}`, {}],
      ['PUT', `/admin/nodes/${nodeId}/versions/1.0.0`, {}],
      ['POST', `/admin/nodes/${nodeId}/versions/1.0.0/retry`, {}],
      ['POST', `/admin/publishers/${owned.id}/ban`, { reason: 'x' }],
      ['POST', `/admin/publishers/${owned.id}/unban`, {}],
      ['GET', '/admin/audit-log'],
    ]
    for (const [method, path, body] of calls) {
      expectStatus(await owned.owner.call(method, path, body), 403, 'forbidden')
      expectStatus(await registry.anonymous.call(method, path, body), 401, 'unauthorized')
    }
    expectStatus(await admin.get('/admin/audit-log?action=none'), 400, 'validation_failed')
    const log = expectStatus(await admin.get(`/admin/audit-log?actor=${ADMIN}&pageSize=1`), 200)
    assert.equal(log.headers.get('cache-control'), 'private, no-cache')
  })
})
