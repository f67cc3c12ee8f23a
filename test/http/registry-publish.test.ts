import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import {
  addActive,
  addFlagged,
  addVersion,
  expectStatus,
  listOf,
  makeNode,
  makePublisher,
  makeToken,
  publish,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

let registry: Registry
/** A second api with PUBLISH_AUTH=token. */
let tokenOnly: Client
let owned: Owned

before(async () => {
  registry = await startRegistry()
  const second = await registry.service.startSecondApi({ PUBLISH_AUTH: 'token' })
  tokenOnly = makeClient(second.baseUrl)
  owned = await makePublisher(registry)
})

after(() => registry?.stop())

const EMPTY = {
  supported_os: [],
  supported_accelerators: [],
  supported_host_version: '',
  supported_host_frontend_version: '',
}

/** What the publishing tool sends, member by member. */
const cliBody = (nodeId: string, token: string, more: object = {}) => ({
  personal_access_token: token,
  node: {
    id: nodeId,
    description: '',
    icon: '',
    name: '',
    license: '{"file": "LICENSE"}',
    repository: 'https://git.example.com/acme/tools',
    banner_url: '',
    ...EMPTY,
  },
  node_version: { version: '1.0.0', dependencies: [], ...EMPTY, ...more },
})

const versionOf = ({ body }: Answer) => body['node_version'] as unknown as Record<string, unknown>

const send = (client: Client, nodeId: string, body: object, headers = {}): Promise<Answer> =>
  client.post(`/publishers/${owned.id}/nodes/${nodeId}/versions`, body, headers)

describe('the publishing tool', () => {
  test('publishes with its token alone where PUBLISH_AUTH lets it', async () => {
    const nodeId = unique('node')
    const body = cliBody(nodeId, owned.token, { changelog: 'first' })
    const answer = expectStatus(await send(tokenOnly, nodeId, body), 201)
    assert.deepEqual(Object.keys(answer.body).toSorted(), ['node_version', 'signedUrl'])
    const { id, version, changelog, node_id, status } = versionOf(answer)
    assert.deepEqual(
      [version, changelog, node_id, status],
      ['1.0.0', 'first', nodeId, 'NodeVersionStatusPending'],
    )
    const url = new URL(String(answer.body['signedUrl']))
    assert.equal(url.pathname, `/uploads/${String(id)}`)
    assert.deepEqual([...url.searchParams.keys()], ['expires', 'max', 'signature'])
    const moves = await owned.owner.get(`/nodes/${nodeId}/versions/1.0.0/findings`)
    assert.deepEqual(
      (moves.body['moves'] as unknown as { actor: string }[]).map(({ actor }) => actor),
      [`user:${owned.user}`],
    )
  })

  test('is told what is missing under the default', async () => {
    const nodeId = unique('node')
    const refused = await send(registry.anonymous, nodeId, cliBody(nodeId, owned.token))
    expectStatus(refused, 401, 'unauthorized')
    assert.match(refused.body.message ?? '', /PUBLISH_AUTH/)
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
    const mistaken = await send(tokenOnly, nodeId, cliBody(nodeId, owned.token), {
      authorization: 'Bearer x',
    })
    expectStatus(mistaken, 401, 'unauthorized')
  })

  test('keeps what it leaves empty', async () => {
    const nodeId = await makeNode(owned, { name: 'Named', description: 'said', tags: ['a'] })
    expectStatus(await send(owned.owner, nodeId, cliBody(nodeId, owned.token)), 201)
    const { body } = await registry.anonymous.get(`/nodes/${nodeId}`)
    assert.deepEqual(
      [body['name'], body['description'], body['tags'], body['license']],
      ['Named', 'said', ['a'], '{"file": "LICENSE"}'],
    )
    assert.equal('latest_version' in body, false)
  })

  test('installs what it published once it is active', async () => {
    const nodeId = unique('node')
    const path = `/nodes/${nodeId}/install`
    const first = expectStatus(await send(tokenOnly, nodeId, cliBody(nodeId, owned.token)), 201)
    const id = String(versionOf(first)['id'])
    expectStatus(await registry.anonymous.get(path), 404, 'version_not_installable')
    await registry.place.receive(id, id)
    await registry.place.accept(id, id)
    await registry.place.move(id, 'pass')
    const answer = expectStatus(await registry.anonymous.get(path), 200)
    assert.equal(answer.body['version'], '1.0.0')
    assert.match(String(answer.body['downloadUrl']), /\/1\.0\.0\/node\.zip$/)
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    expectStatus(await registry.anonymous.get(`${path}?version=1.0.0%2Bbuild`), 200)
    assert.equal((await registry.anonymous.get(`/nodes/${nodeId}`)).body['downloads'], 2)
  })
})

describe('a publication', () => {
  test('that awaits its archive is answered again with the same id', async () => {
    const nodeId = unique('node')
    const [one, two] = await Promise.all([
      publish(owned, { nodeId, given: { changelog: 'a' } }),
      publish(owned, { nodeId, given: { changelog: 'a' } }),
    ])
    expectStatus(one, 201)
    assert.equal(versionOf(one)['id'], versionOf(expectStatus(two, 201))['id'])
    const third = expectStatus(await publish(owned, { nodeId, given: { changelog: 'b' } }), 201)
    assert.deepEqual(
      [versionOf(third)['id'], versionOf(third)['changelog']],
      [versionOf(one)['id'], 'b'],
    )
  })

  test('of a version that has been there is a conflict', async () => {
    const nodeId = unique('node')
    const id = await addActive(registry, owned, { nodeId, version: '1.0.0+a' })
    const refused = expectStatus(
      await publish(owned, { nodeId, version: '1.0.0+b' }),
      409,
      'version_exists',
    )
    assert.match(refused.body.message ?? '', /NodeVersionStatusActive/)
    await owned.owner.call('DELETE', `/publishers/${owned.id}/nodes/${nodeId}/versions/${id}`)
    expectStatus(await publish(owned, { nodeId }), 409, 'version_exists')
  })

  test('that is refused changes nothing', async () => {
    const nodeId = unique('node')
    await addActive(registry, owned, { nodeId, node: { description: 'old' } })
    expectStatus(
      await publish(owned, { nodeId, node: { description: 'new' } }),
      409,
      'version_exists',
    )
    const { body } = await registry.anonymous.get(`/nodes/${nodeId}`)
    assert.equal(body['description'], 'old')
  })

  test('into a deleted node is a conflict, into another one’s is forbidden', async () => {
    const nodeId = await makeNode(owned)
    const other = await makePublisher(registry)
    expectStatus(await publish(other, { nodeId }), 403, 'node_owned_by_other_publisher')
    await owned.owner.call('DELETE', `/publishers/${owned.id}/nodes/${nodeId}`)
    expectStatus(await publish(owned, { nodeId }), 409, 'node_deleted')
    const again = await owned.owner.post(`/publishers/${owned.id}/nodes`, { id: nodeId })
    expectStatus(again, 409, 'node_deleted')
  })

  test('keeps the spelling of a node that is there', async () => {
    const nodeId = await makeNode(owned)
    const answer = await publish(owned, { nodeId: nodeId.toUpperCase() })
    assert.equal(versionOf(expectStatus(answer, 201))['node_id'], nodeId)
  })

  test('with a token that is not a live one of the publisher has one answer', async () => {
    const { owner, id } = owned
    const { sql } = registry.service.database
    const revoked = await makeToken(owner, id)
    await sql`update personal_access_token set revoked_at = now() where last4 = ${revoked.slice(-4)}`
    const expired = await makeToken(owner, id)
    await sql`update personal_access_token set expires_at = now() where last4 = ${expired.slice(-4)}`
    const other = await makePublisher(registry)
    const wrong = `${owned.token.slice(0, -1)}${owned.token.endsWith('0') ? '1' : '0'}`
    const messages = new Set<string | undefined>()
    for (const token of [revoked, expired, other.token, wrong, 'x', '']) {
      const refused = await publish({ ...owned, token }, { nodeId: unique('node') })
      expectStatus(refused, 403, 'invalid_personal_access_token')
      messages.add(refused.body.message)
    }
    assert.equal(messages.size, 1)
    const nobody = await publish({ ...owned, id: 'no-one' }, { nodeId: unique('node') })
    expectStatus(nobody, 403, 'invalid_personal_access_token')
    expectStatus(await publish(owned, { nodeId: unique('node') }), 201)
    const [used] = await sql`
      select last_used_at is not null as used from personal_access_token
      where last4 = ${owned.token.slice(-4)}
    `
    assert.equal(used?.['used'], true)
  })

  test('never echoes its token', async () => {
    const body = { node: 5, node_version: {}, personal_access_token: [owned.token] }
    const refused = await send(owned.owner, unique('node'), body)
    expectStatus(refused, 400, 'validation_failed')
    assert.ok(!JSON.stringify(refused.body).includes(owned.token), 'not echoed')
  })

  const VERSIONS: [version: string, suggestion?: string][] = [
    ['1.2', '1.2.0'],
    ['v1.0.0', '1.0.0'],
    ['01.2.3', '1.2.3'],
    ['x'],
    ['1.2.3.4'],
  ]
  for (const [version, suggestion] of VERSIONS)
    test(`of the version "${version}" is told what it should be`, async () => {
      const refused = await publish(owned, { nodeId: unique('node'), version })
      expectStatus(refused, 400, 'version_invalid')
      const [detail = ''] = refused.body.details ?? []
      assert.equal(/did you mean "(.+)"/.exec(detail)?.[1], suggestion)
    })

  test('of a node with another id in its body is refused', async () => {
    const refused = await publish(owned, { nodeId: unique('node'), node: { id: 'other' } })
    expectStatus(refused, 400, 'id_mismatch')
  })
})

describe('a version', () => {
  test('is edited in part, and compared with If-Match', async () => {
    const nodeId = unique('node')
    const id = await addActive(registry, owned, { nodeId, given: { changelog: 'a' } })
    const path = `/publishers/${owned.id}/nodes/${nodeId}/versions/${id}`
    const read = await registry.anonymous.get(`/nodes/${nodeId}/versions/1.0.0`)
    const etag = read.headers.get('etag') ?? ''
    const given = { deprecated: true }
    const { body } = expectStatus(
      await owned.owner.call('PUT', path, given, { 'if-match': etag }),
      200,
    )
    assert.deepEqual([body['changelog'], body['deprecated'], body['id']], ['a', true, id])
    for (const tag of [etag, 'W/"1"', 'x'])
      expectStatus(
        await owned.owner.call('PUT', path, given, { 'if-match': tag }),
        412,
        'precondition_failed',
      )
    expectStatus(await owned.owner.call('PUT', path, { changelog: '' }, { 'if-match': '*' }), 200)
    const after = await registry.anonymous.get(`/nodes/${nodeId}/versions/1.0.0`)
    assert.equal('changelog' in after.body, false)
    expectStatus(
      await owned.owner.call('PUT', path, { deprecated: 'yes' }),
      400,
      'validation_failed',
    )
  })

  test('of another node, or without a UUID, is not found', async () => {
    const [one, two] = [unique('node'), unique('node')]
    const id = await addVersion(owned, { nodeId: one })
    await addVersion(owned, { nodeId: two })
    const at = (nodeId: string, versionId: string) =>
      `/publishers/${owned.id}/nodes/${nodeId}/versions/${versionId}`
    for (const path of [at(two, id), at(one, 'x'), at(one, '0'.repeat(8))]) {
      expectStatus(await owned.owner.call('PUT', path, {}), 404, 'version_not_found')
      expectStatus(await owned.owner.call('DELETE', path), 404, 'version_not_found')
    }
    const other = await makePublisher(registry)
    const theirs = `/publishers/${other.id}/nodes/${one}/versions/${id}`
    expectStatus(await other.owner.call('PUT', theirs, {}), 404, 'node_not_found')
    expectStatus(await owned.owner.call('PUT', at(one.toUpperCase(), id.toUpperCase()), {}), 200)
  })

  test('that is deleted is gone everywhere', async () => {
    const nodeId = unique('node')
    const id = await addActive(registry, owned, { nodeId })
    await addVersion(owned, { nodeId, version: '2.0.0' })
    const path = `/publishers/${owned.id}/nodes/${nodeId}/versions/${id}`
    expectStatus(await owned.owner.call('DELETE', path), 204)
    const { anonymous } = registry
    expectStatus(await anonymous.get(`/nodes/${nodeId}/versions/1.0.0`), 404, 'version_not_found')
    expectStatus(
      await anonymous.get(`/nodes/${nodeId}/install?version=1.0.0`),
      404,
      'version_not_installable',
    )
    expectStatus(await anonymous.get(`/nodes/${nodeId}/install`), 404, 'version_not_installable')
    const numbersOf = async (query: string) =>
      listOf(await anonymous.get(`/nodes/${nodeId}/versions${query}`)).map(
        (version) => version['version'],
      )
    assert.deepEqual(await numbersOf(''), ['2.0.0'])
    assert.deepEqual(
      await numbersOf('?statuses=NodeVersionStatusDeleted&statuses=NodeVersionStatusPending'),
      ['2.0.0', '1.0.0'],
    )
    expectStatus(await owned.owner.call('PUT', path, {}), 404, 'version_not_found')
    expectStatus(await owned.owner.call('DELETE', path), 404, 'version_not_found')
  })

  test('is read in every status, and installed in one', async () => {
    const nodeId = unique('node')
    await addVersion(owned, { nodeId, version: '1.0.0' })
    await addFlagged(registry, owned, { nodeId, version: '2.0.0' })
    await addActive(registry, owned, { nodeId, version: '3.0.0' })
    const { anonymous, admin } = registry
    const banned = await admin.call('PUT', `/admin/nodes/${nodeId}/versions/3.0.0`, {
      status: 'NodeVersionStatusBanned',
      status_reason: 'malware',
    })
    expectStatus(banned, 200)
    const CASES: [string, string, number, string?][] = [
      ['1.0.0', 'NodeVersionStatusPending', 404, 'version_not_installable'],
      ['2.0.0', 'NodeVersionStatusFlagged', 403, 'version_blocked'],
      ['3.0.0', 'NodeVersionStatusBanned', 403, 'version_blocked'],
    ]
    for (const [version, status, code, error] of CASES) {
      const read = expectStatus(await anonymous.get(`/nodes/${nodeId}/versions/${version}`), 200)
      assert.equal(read.body['status'], status)
      assert.ok(read.body['status_reason'], version)
      const refused = await anonymous.get(`/nodes/${nodeId}/install?version=${version}`)
      expectStatus(refused, code, error)
      if (code === 403)
        assert.ok(refused.body.message?.includes(String(read.body['status_reason'])), version)
    }
    expectStatus(await anonymous.get(`/nodes/${nodeId}/versions/9.0.0`), 404, 'version_not_found')
    expectStatus(await anonymous.get(`/nodes/${nodeId}/versions/v1`), 404, 'version_not_found')
    expectStatus(await anonymous.get(`/nodes/${nodeId}/install?version=v1`), 400, 'version_invalid')
    expectStatus(
      await anonymous.get(`/nodes/${nodeId}/install?version=9.0.0`),
      404,
      'version_not_found',
    )
  })

  test('is found in bulk, in the order asked', async () => {
    const nodeId = unique('node')
    await addActive(registry, owned, { nodeId })
    const asked = [
      { node_id: 'none', version: '1.0.0' },
      { node_id: nodeId.toUpperCase(), version: '1.0.0' },
      { node_id: nodeId, version: 'v1' },
    ]
    const body = { node_versions: asked }
    const key = { 'idempotency-key': unique('key') }
    const answer = expectStatus(
      await registry.anonymous.post('/bulk/nodes/versions', body, key),
      200,
    )
    const found = answer.body['node_versions'] as unknown as Record<string, unknown>[]
    assert.deepEqual(
      found.map(({ status }) => status),
      ['not_found', 'success', 'not_found'],
    )
    assert.deepEqual(
      found.map(({ identifier }) => identifier),
      asked,
    )
    const again = await registry.anonymous.post('/bulk/nodes/versions', body, key)
    assert.deepEqual(again.body, answer.body)
    for (const bad of [{}, { node_versions: [] }, { node_versions: [{ node_id: 5 }] }])
      expectStatus(
        await registry.anonymous.post('/bulk/nodes/versions', bad),
        400,
        'validation_failed',
      )
  })
})
