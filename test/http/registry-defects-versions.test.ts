import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { expireVersion } from '../../src/db/registry/archive.ts'
import type { Answer } from '../support/client.ts'
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

/** Faults of other registries in nodes and versions; `registry-defects.test.ts` says which test is for which. */

let registry: Registry
let owned: Owned

before(async () => {
  registry = await startRegistry()
  owned = await makePublisher(registry)
})

after(() => registry?.stop())

type Version = Record<string, unknown>

const read = (path: string): Promise<Answer> => registry.anonymous.get(path)

const versionsOf = ({ body }: Answer): Version[] => body['versions'] as unknown as Version[]

/** A member that is an object itself. */
const memberOf = (body: object | undefined, name: string): Version => {
  const member = (body as Version | undefined)?.[name]
  assert.ok(typeof member === 'object' && member !== null, name)
  return member as Version
}

const pathOf = (nodeId: string, id: string): string =>
  `/publishers/${owned.id}/nodes/${nodeId}/versions/${id}`

const bulk = async (...asked: object[]): Promise<Version[]> => {
  const answer = await registry.anonymous.post('/bulk/nodes/versions', { node_versions: asked })
  return expectStatus(answer, 200).body['node_versions'] as unknown as Version[]
}

describe('a body that lacks something', () => {
  test('is 400 without its version or with nodes that are null, whatever else is there', async () => {
    const nodeId = unique('node')
    for (const given of [{}, { changelog: 'x' }, null]) {
      const body = { node: {}, node_version: given, personal_access_token: owned.token }
      const refused = await owned.owner.post(
        `/publishers/${owned.id}/nodes/${nodeId}/versions`,
        body,
      )
      expectStatus(refused, 400, 'validation_failed')
      assert.match(refused.body.details?.[0] ?? '', /^\/node_version/)
    }
    expectStatus(await read(`/nodes/${nodeId}`), 404, 'node_not_found')
    await addVersion(owned, { nodeId })
    for (const body of [{ nodes: null }, { success: true, nodes: null }, {}])
      expectStatus(
        await registry.anonymous.post(`/nodes/${nodeId}/versions/1.0.0/host-nodes`, body),
        400,
        'validation_failed',
      )
  })

  test('is taken with any part of the build info, which is stored', async () => {
    const { sql } = registry.service.database
    for (const info of [
      {},
      { build_id: '1' },
      { location: 'x', project_number: '2' },
      { build_id: '1', location: 'x', project_id: 'p', project_number: '2' },
    ]) {
      const nodeId = await makeNode(owned)
      const id = await addVersion(owned, { nodeId })
      const body = { nodes: {}, cloud_build_info: info }
      const path = `/nodes/${nodeId}/versions/1.0.0/host-nodes`
      expectStatus(await registry.anonymous.post(path, body), 204)
      const [row] =
        await sql`select build_info as info from host_node_report where version_id = ${id}`
      assert.deepEqual(row?.['info'], info)
    }
  })
})

describe('the answer about a version', () => {
  test('is whole after an update, too', async () => {
    const nodeId = unique('node')
    const given = { dependencies: ['numpy'], tags: ['a'], supported_os: ['Linux'] }
    const id = await addActive(registry, owned, { nodeId, given })
    const update = { changelog: 'more', deprecated: true }
    const { body } = expectStatus(await owned.owner.call('PUT', pathOf(nodeId, id), update), 200)
    assert.deepEqual(body, (await read(`/nodes/${nodeId}/versions/1.0.0`)).body)
    for (const [name, value] of Object.entries({ ...given, ...update }))
      assert.deepEqual(body[name], value, name)
  })

  test('has the reason of its status everywhere, asked for or not', async () => {
    const nodeId = unique('node')
    const published = expectStatus(await publish(owned, { nodeId, version: '2.0.0' }), 201)
    await addActive(registry, owned, { nodeId })
    const install = await read(`/nodes/${nodeId}/install`)
    const node = await read(`/nodes/${nodeId}`)
    const list = await read(`/nodes?node_id=${nodeId}`)
    const [listed] = list.body['nodes'] as unknown as Version[]
    const [found] = await bulk({ node_id: nodeId, version: '1.0.0' })
    const seen: Version[] = [
      memberOf(published.body, 'node_version'),
      (await read(`/nodes/${nodeId}/versions/1.0.0`)).body,
      ...listOf(await read(`/nodes/${nodeId}/versions`)),
      ...listOf(await read(`/nodes/${nodeId}/versions?include_status_reason=false`)),
      ...versionsOf(await read(`/versions?nodeId=${nodeId}`)),
      install.body,
      memberOf(node.body, 'latest_version'),
      memberOf(listed, 'latest_version'),
      memberOf(found, 'node_version'),
    ]
    assert.equal(seen.length, 12)
    for (const version of seen) {
      const isPending = version['status'] === 'NodeVersionStatusPending'
      const reason = isPending ? 'waiting for the archive' : 'Passed automated checks'
      assert.equal(version['status_reason'], reason)
    }
  })

  test('has every member that is always there, and none that is null', async () => {
    const nodeId = unique('node')
    const { body } = expectStatus(await publish(owned, { nodeId }), 201)
    const { id, createdAt, ...rest } = body['node_version'] as unknown as Version
    assert.match(String(id), /^[\da-f-]{36}$/)
    assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      node_id: nodeId,
      version: '1.0.0',
      status: 'NodeVersionStatusPending',
      status_reason: 'waiting for the archive',
      deprecated: false,
      host_node_extract_status: 'pending',
      dependencies: [],
      tags: [],
      tags_admin: [],
      supported_os: [],
      supported_accelerators: [],
    })
    const publisher = await read(`/publishers/${owned.id}`)
    assert.deepEqual(Object.keys(publisher.body).toSorted(), [
      'createdAt',
      'id',
      'members',
      'name',
      'status',
    ])
  })
})

describe('the latest version', () => {
  test('is none of the traps: text, creation, deprecated, pre-release, flagged, banned, deleted', async () => {
    const nodeId = unique('node')
    const expectLatest = async (expected: string | undefined, what: string) => {
      const { body } = await read(`/nodes/${nodeId}`)
      const latest = body['latest_version'] as unknown as Version | undefined
      assert.equal(latest?.['version'], expected, what)
      const { body: installed, status } = await read(`/nodes/${nodeId}/install`)
      assert.equal(status === 200 ? String(installed['version']) : undefined, expected, what)
    }
    const active = (version: string) => addActive(registry, owned, { nodeId, version })
    const moderate = (version: string, status: string) =>
      registry.admin.call('PUT', `/admin/nodes/${nodeId}/versions/${version}`, {
        status: `NodeVersionStatus${status}`,
        status_reason: 'x',
      })
    await addVersion(owned, { nodeId, version: '9.0.0' })
    await addFlagged(registry, owned, { nodeId, version: '8.0.0' })
    await expectLatest(undefined, 'pending, flagged')
    await active('2.0.0-rc.1')
    await expectLatest('2.0.0-rc.1', 'a pre-release alone')
    await active('1.10.0')
    await expectLatest('1.10.0', 'pre-release')
    await active('1.9.0')
    await expectLatest('1.10.0', 'text, creation')
    const third = await active('3.0.0')
    await expectLatest('3.0.0', 'higher')
    await owned.owner.call('PUT', pathOf(nodeId, third), { deprecated: true })
    await expectLatest('1.10.0', 'deprecated')
    await owned.owner.call('PUT', pathOf(nodeId, third), { deprecated: false })
    await expectLatest('3.0.0', 'no more deprecated')
    expectStatus(await moderate('3.0.0', 'Flagged'), 200)
    await expectLatest('1.10.0', 'flagged by an operator')
    expectStatus(await moderate('3.0.0', 'Active'), 200)
    await expectLatest('3.0.0', 'active again')
    expectStatus(await moderate('3.0.0', 'Banned'), 200)
    await expectLatest('1.10.0', 'banned')
    const tenth = (await read(`/nodes/${nodeId}/versions/1.10.0`)).body['id']
    await owned.owner.call('DELETE', pathOf(nodeId, String(tenth)))
    await expectLatest('1.9.0', 'deleted')
  })
})

describe('the number of a version', () => {
  test('is not burnt by a publication whose archive never came', async () => {
    const nodeId = unique('node')
    const id = await addVersion(owned, { nodeId, given: { changelog: 'first' } })
    const { sql } = registry.service.database
    await sql`update version set upload_expires_at = now() - interval '1 hour' where id = ${id}`
    assert.ok(await sql.begin((sql) => expireVersion(sql, id)), 'expired')
    expectStatus(await read(`/nodes/${nodeId}/versions/1.0.0`), 404, 'version_not_found')
    const again = await addVersion(owned, { nodeId })
    assert.notEqual(again, id)
    const { body } = await read(`/nodes/${nodeId}/versions/1.0.0`)
    assert.deepEqual([body['id'], 'changelog' in body], [again, false])
    const deleted = await read(`/nodes/${nodeId}/versions?statuses=NodeVersionStatusDeleted`)
    assert.deepEqual(
      listOf(deleted).map((version) => [version['id'], version['status_reason']]),
      [[id, 'archive was not uploaded in time']],
    )
    expectStatus(await owned.owner.call('PUT', pathOf(nodeId, id), {}), 404, 'version_not_found')
  })
})

describe('a version that an operator moves', () => {
  test('is moved with a reason, which whoever installs it and its members are told', async () => {
    const nodeId = unique('node')
    await addActive(registry, owned, { nodeId })
    const path = `/nodes/${nodeId}/versions/1.0.0`
    const move = (status: string, reason?: string) =>
      registry.admin.call('PUT', `/admin${path}`, { status, status_reason: reason })
    for (const status of ['NodeVersionStatusFlagged', 'NodeVersionStatusBanned']) {
      expectStatus(await move(status), 400, 'validation_failed')
      const reason = `it mines coins: ${status}`
      expectStatus(await move(status, reason), 200)
      assert.equal((await read(path)).body['status_reason'], reason)
      for (const blocked of [
        `/nodes/${nodeId}/install?version=1.0.0`,
        `/archives/${owned.id}/${nodeId}/1.0.0/node.zip`,
      ]) {
        const refused = expectStatus(await read(blocked), 403, 'version_blocked')
        assert.ok(refused.body.message?.includes(reason), refused.body.message)
      }
    }
    const { body } = await owned.owner.get(`${path}/findings`)
    const moves = body['moves'] as unknown as { actor: string; to: string; reason: string }[]
    assert.deepEqual(
      moves.slice(-2).map(({ actor, to }) => [actor, to]),
      [
        ['user:root', 'NodeVersionStatusFlagged'],
        ['user:root', 'NodeVersionStatusBanned'],
      ],
    )
    for (const move of moves) assert.ok(move.actor && move.reason, JSON.stringify(move))
  })
})

describe('versions in bulk', () => {
  test('have each what became of it, also when banned, deleted or flagged', async () => {
    const nodeId = unique('node')
    await addActive(registry, owned, { nodeId })
    await addFlagged(registry, owned, { nodeId, version: '2.0.0' })
    const deleted = await addActive(registry, owned, { nodeId, version: '3.0.0' })
    await owned.owner.call('DELETE', pathOf(nodeId, deleted))
    const banned = unique('node')
    await addActive(registry, owned, { nodeId: banned })
    const ban = { status: 'NodeStatusBanned', status_detail: 'malware' }
    expectStatus(await registry.admin.call('PUT', `/admin/nodes/${banned}`, ban), 200)
    const asked = [
      [nodeId, '1.0.0', 'success'],
      [nodeId, '2.0.0', 'success'],
      [nodeId, '3.0.0', 'not_found'],
      [banned, '1.0.0', 'error'],
      [nodeId, '1.0.0+build', 'success'],
      ['', '', 'not_found'],
      [nodeId, '1.0.0', 'success'],
    ] as const
    const found = await bulk(...asked.map(([node_id, version]) => ({ node_id, version })))
    assert.deepEqual(
      found.map(({ status }) => status),
      asked.map(([, , status]) => status),
    )
    for (const { status, node_version: version, error_message: message } of found)
      assert.deepEqual(
        [version !== undefined, Boolean(message)],
        [status === 'success', status !== 'success'],
      )
    // Why it is banned is for members.
    assert.doesNotMatch(JSON.stringify(found), /malware/)
  })

  test('are 1 to 500', async () => {
    const asked = (count: number): object[] =>
      Array.from({ length: count }, () => ({ node_id: 'none', version: '1.0.0' }))
    assert.equal((await bulk(...asked(500))).length, 500)
    for (const count of [0, 501]) {
      const body = { node_versions: asked(count) }
      const refused = await registry.anonymous.post('/bulk/nodes/versions', body)
      expectStatus(refused, 400, 'validation_failed')
    }
  })
})
