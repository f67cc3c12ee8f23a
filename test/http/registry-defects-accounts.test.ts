import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer } from '../support/client.ts'
import { waitFor } from '../support/wait.ts'
import {
  addActive,
  addFlagged,
  addVersion,
  expectStatus,
  listOf,
  makeNode,
  makePublisher,
  publish,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

/** Faults of other registries in publishers and tokens; `registry-defects.test.ts` says which test is for which. */

let registry: Registry

before(async () => {
  registry = await startRegistry()
})

after(() => registry?.stop())

const withoutId = ({ status, body }: Answer) => {
  const { request_id: _id, ...rest } = body
  return [status, Array.isArray(body) ? body : rest]
}

/** All that is public of a publisher and its nodes. */
const look = async ({ id }: Owned, nodeIds: readonly string[]): Promise<unknown[]> => {
  const paths = [
    `/publishers/${id}`,
    `/publishers/${id}/nodes`,
    ...nodeIds.flatMap((nodeId) => [
      `/nodes/${nodeId}`,
      `/nodes/${nodeId}/versions`,
      `/nodes/${nodeId}/versions?statuses=NodeVersionStatusDeleted`,
      `/nodes?node_id=${nodeId}`,
      `/nodes/search?search=${nodeId}`,
      `/versions?nodeId=${nodeId}`,
      `/archives/${id}/${nodeId}/2.0.0/node.zip`,
    ]),
    ...['1.0.0', '2.0.0', '3.0.0', '4.0.0'].map(
      (version) => `/nodes/${nodeIds[0]}/versions/${version}`,
    ),
    // Those that can be installed would count.
    ...['1.0.0', '2.0.0', '4.0.0'].map(
      (version) => `/nodes/${nodeIds[0]}/install?version=${version}`,
    ),
    `/host-nodes/${nodeIds[0]}/node`,
  ]
  const answers = await Promise.all(paths.map((path) => registry.anonymous.get(path)))
  return answers.map(withoutId)
}

describe('a publisher', () => {
  test('is deleted by nobody, whoever asks', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    const before = await look(owned, [nodeId])
    const stranger = await registry.client(unique('stranger'))
    for (const client of [registry.anonymous, stranger, owned.owner, registry.admin]) {
      const refused = await client.call('DELETE', `/publishers/${owned.id}`)
      expectStatus(refused, 405, 'method_not_allowed')
      assert.equal(refused.headers.get('allow'), 'GET, HEAD, PUT')
    }
    assert.deepEqual(await look(owned, [nodeId]), before)
    assert.equal(listOf(await owned.owner.get(`/publishers/${owned.id}/tokens`)).length, 1)
  })

  test('is after a ban exactly what it was, in every status of its nodes and versions', async () => {
    const owned = await makePublisher(registry)
    const nodeIds = [unique('node'), unique('node'), unique('node')]
    const [mixed = '', banned = '', deleted = ''] = nodeIds
    await addVersion(owned, { nodeId: mixed, version: '1.0.0' })
    await addFlagged(registry, owned, { nodeId: mixed, version: '2.0.0' })
    await addActive(registry, owned, {
      nodeId: mixed,
      version: '3.0.0',
      given: { deprecated: true },
    })
    const removed = await addActive(registry, owned, { nodeId: mixed, version: '4.0.0' })
    const own = `/publishers/${owned.id}/nodes`
    expectStatus(await owned.owner.call('DELETE', `${own}/${mixed}/versions/${removed}`), 204)
    const nodes = { nodes: { [mixed]: {} } }
    const path = `/nodes/${mixed}/versions/3.0.0/host-nodes`
    expectStatus(await registry.anonymous.post(path, nodes), 204)
    for (const nodeId of [banned, deleted]) await addActive(registry, owned, { nodeId })
    const ban = { status: 'NodeStatusBanned', status_detail: 'malware' }
    expectStatus(await registry.admin.call('PUT', `/admin/nodes/${banned}`, ban), 200)
    expectStatus(await owned.owner.call('DELETE', `${own}/${deleted}`), 204)

    const before = await look(owned, nodeIds)
    const admin = `/admin/publishers/${owned.id}`
    expectStatus(await registry.admin.post(`${admin}/ban`, { reason: 'spam' }), 200)
    assert.notDeepEqual(await look(owned, nodeIds), before)
    expectStatus(await registry.admin.post(`${admin}/unban`, {}), 200)
    assert.deepEqual(await look(owned, nodeIds), before)
    assert.equal(listOf(await owned.owner.get(`/publishers/${owned.id}/tokens`)).length, 1)
    expectStatus(await publish(owned, { nodeId: mixed, version: '5.0.0' }), 201)
  })
})

describe('a ban of what is not there', () => {
  test('is not found: publisher, node, version', async () => {
    const owned = await makePublisher(registry)
    const nodeId = await makeNode(owned)
    const { admin } = registry
    const node = { status: 'NodeStatusBanned', status_detail: 'x' }
    const version = { status: 'NodeVersionStatusBanned', status_reason: 'x' }
    for (const [answer, code] of [
      [await admin.post('/admin/publishers/none/ban', { reason: 'x' }), 'publisher_not_found'],
      [await admin.post('/admin/publishers/none/unban', {}), 'publisher_not_found'],
      [await admin.call('PUT', '/admin/nodes/none', node), 'node_not_found'],
      [await admin.call('PUT', '/admin/nodes/none/versions/1.0.0', version), 'node_not_found'],
      [
        await admin.call('PUT', `/admin/nodes/${nodeId}/versions/1.0.0`, version),
        'version_not_found',
      ],
      [await admin.call('PUT', `/admin/nodes/${nodeId}/versions/x`, version), 'version_not_found'],
      [await admin.post('/admin/nodes/none/versions/1.0.0/retry', {}), 'node_not_found'],
    ] as const)
      expectStatus(answer, 404, code)
    const log = await admin.get(`/admin/audit-log?target=${encodeURIComponent(`node/${nodeId}`)}`)
    assert.deepEqual(log.body['entries'], [])
  })
})

describe('a personal access token', () => {
  const tokensOf = async ({ id, owner }: Owned) =>
    listOf<{ id: string; last_used_at?: string; expires_at?: string }>(
      await owner.get(`/publishers/${id}/tokens`),
    )

  test('is refused when its time is over', async () => {
    const owned = await makePublisher(registry)
    const expires = new Date(Date.now() + 1500).toISOString()
    const made = await owned.owner.post(`/publishers/${owned.id}/tokens`, {
      name: 'short',
      expires_at: expires,
    })
    const token = String(expectStatus(made, 201).body['token'])
    assert.ok(
      (await tokensOf(owned)).some((listed) => listed.expires_at === expires),
      'it is said',
    )
    const nodeId = unique('node')
    await waitFor('the token is refused', async () => {
      const { status, body } = await publish({ ...owned, token }, { nodeId })
      if (status === 201) return undefined
      assert.deepEqual([status, body.error], [403, 'invalid_personal_access_token'])
      assert.ok(Date.now() >= Date.parse(expires), 'not before its time')
      return true
    })
  })

  test('says when it was last used, at first use and then at most once an hour', async () => {
    const owned = await makePublisher(registry)
    const nodeId = unique('node')
    const use = async (): Promise<string | undefined> => {
      expectStatus(await publish(owned, { nodeId }), 201)
      return (await tokensOf(owned))[0]?.last_used_at
    }
    const [token] = await tokensOf(owned)
    assert.equal(token && 'last_used_at' in token, false)
    const first = await use()
    assert.match(first ?? '', /Z$/)
    assert.equal(await use(), first)
    const { sql } = registry.service.database
    await sql`
      update personal_access_token set last_used_at = last_used_at - interval '61 minutes'
      where id = ${token?.id ?? null}
    `
    const later = await use()
    assert.ok((later ?? '') >= (first ?? ''), `${later} is not before ${first}`)
  })
})
