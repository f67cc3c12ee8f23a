import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { transferNode } from '../../../src/registry/db/transfer.ts'
import { insertTrustedPublisher } from '../../../src/registry/db/trusted-publisher.ts'
import {
  columnsOf,
  expectStatus,
  listOf,
  makeClient,
  memberOf,
  pluck,
  statusesOf,
} from '../../support/client.ts'
import type { HttpResponse } from '../../support/client.ts'
import { JOB } from '../../support/identity-issuer.ts'
import { respond } from '../../support/receiver.ts'
import { countLockWaits, waitFor } from '../../support/wait.ts'
import { unique, useRegistry, type Owned } from './registry-support.ts'
import { CLAIMS, useTrusting, type Trusting } from './trusted-publishing-support.ts'

const registry = useRegistry()
const { anonymous, sql, service } = registry
const { ci, addTrusting, toCome } = useTrusting(registry)

const AUDIT = { actor: 'operator', requestId: 'test' }

const waitForLock = () =>
  waitFor('a session waits', async () => (await countLockWaits(service.database.sql)) > 0)

const trusting = async (owned: Owned, nodeId = unique('New-Pack')): Promise<Trusting> => {
  const node = toCome(owned, nodeId)
  expectStatus(await node.trust(), 201)
  return node
}

const publish = ({ owned, nodeId }: Trusting, token: string, version = '1.0.0') =>
  owned.publish({ nodeId, token, version, client: anonymous })

const exchange = async (node: Trusting): Promise<HttpResponse> =>
  await node.exchange(await ci.sign())

/** Gives a node to another publisher, as its owners do. */
const transfer = async (nodeId: string, from: Owned, to: Owned): Promise<void> => {
  const offered = await from.owner.post(`${from.path}/nodes/${nodeId}/transfer`, { to: to.id })
  const { id } = expectStatus(offered, 201).body as { id?: string }
  expectStatus(await to.owner.post(`${to.path}/transfers/${String(id)}/accept`, {}), 200)
}

describe('a trusted publisher of a node to come', () => {
  test('makes the pack by its first publication, spelled as there, and goes on to publish it', async () => {
    const owned = await registry.addPublisher()
    const node = await trusting(owned)
    const ofPublisher = `${owned.path}/trusted-publishers`
    expectStatus(await anonymous.get(`/nodes/${node.nodeId}`), 404, 'node_not_found')
    const [listed] = listOf(await owned.owner.get(ofPublisher))
    assert.equal(listed?.['node_id'], node.nodeId.toLowerCase())
    const token = await node.token()
    const other = await publish({ ...node, nodeId: unique('other') }, token)
    expectStatus(other, 403, 'token_scope_insufficient')
    const made = expectStatus(await publish(node, token), 201)
    assert.ok('provenance' in memberOf(made, 'node_version'))
    const read = expectStatus(await anonymous.get(`/nodes/${node.nodeId}`), 200)
    assert.deepEqual([read.body['id'], memberOf(read, 'publisher')['id']], [node.nodeId, owned.id])
    const asToken = makeClient(service.baseUrl, token)
    const findings = await asToken.get(`/nodes/${node.nodeId}/versions/1.0.0/findings`)
    assert.ok('moves' in expectStatus(findings, 200).body, 'the token reads its node')
    expectStatus(await publish(node, await node.token(), '1.1.0'), 201)
    assert.deepEqual(listOf(await owned.owner.get(ofPublisher)), [])
    expectStatus(await node.trust(), 409, 'trusted_publisher_exists')
    const path = `${node.path}/trusted-publishers`
    assert.deepEqual(pluck(listOf(await owned.owner.get(path))), [listed['id']])
    expectStatus(await owned.owner.delete(`${path}/${String(listed['id'])}`), 204)
    expectStatus(await publish(node, token, '1.2.0'), 401, 'unauthorized')
  })

  test('is for admins, ends by hand and with their membership, and is one of 20 of a publisher', async () => {
    const owned = await registry.addPublisher()
    const { client: member, user } = await owned.addMember('admin')
    const nodeId = unique('new')
    const path = `${owned.path}/nodes/${nodeId}/trusted-publishers`
    const body = { provider: 'github', issuer: ci.issuer, claims: CLAIMS }
    const { client: low } = await owned.addMember('member')
    expectStatus(await low.post(path, body), 403, 'forbidden')
    expectStatus(await low.get(`${owned.path}/trusted-publishers`), 403, 'forbidden')
    expectStatus(await owned.owner.get(path), 404, 'node_not_found')
    const { id } = expectStatus(await member.post(path, body), 201).body as { id?: string }
    const node = toCome(owned, nodeId)
    const token = await node.token()
    expectStatus(await owned.owner.delete(`${path}/${String(id)}`), 204)
    expectStatus(await publish(node, token), 401, 'unauthorized')
    expectStatus(await exchange(node), 404, 'node_not_found')
    expectStatus(await member.post(path, body), 201)
    expectStatus(await owned.owner.delete(`${owned.path}/members/${user}`), 204)
    expectStatus(await exchange(node), 404, 'node_not_found')
    for (let index = 0; index < 20; index += 1) await trusting(owned)
    const last = toCome(owned, unique('last'))
    expectStatus(await last.trust(), 403, 'trusted_publisher_limit_reached')
    const reserved = expectStatus(await toCome(owned, 'a..').trust(), 400, 'validation_failed')
    assert.match(reserved.body.message ?? '', /pack id in the path must be/)
    const deleted = await owned.addNode()
    expectStatus(await owned.owner.delete(`${owned.path}/nodes/${deleted}`), 204)
    expectStatus(await toCome(owned, deleted).trust(), 409, 'node_deleted')
  })

  test('reserves no id, and is void once another publisher has made the node, also after a transfer', async () => {
    const [owned, other] = [await registry.addPublisher(), await registry.addPublisher()]
    const node = await trusting(owned)
    const token = await node.token()
    expectStatus(await other.publish({ nodeId: node.nodeId.toLowerCase() }), 201)
    const code = 'node_owned_by_other_publisher'
    expectStatus(await publish(node, token), 403, code)
    expectStatus(await exchange(node), 403, code)
    expectStatus(await node.trust(), 403, code)
    expectStatus(await exchange(toCome(other, node.nodeId)), 403, 'identity_token_refused')
    assert.deepEqual(listOf(await owned.owner.get(`${owned.path}/trusted-publishers`)), [])
    await transfer(node.nodeId, other, owned)
    const rejected = expectStatus(await exchange(node), 403, 'identity_token_refused')
    assert.match(rejected.body.message ?? '', /trusts no issuer/)
    expectStatus(await publish(node, token, '2.0.0'), 401, 'unauthorized')
    assert.deepEqual(listOf(await owned.owner.get(`${node.path}/trusted-publishers`)), [])
  })

  test('of two publishers whose jobs publish at once, one makes the pack and the other gets 403', async () => {
    const both = [await registry.addPublisher(), await registry.addPublisher()]
    for (let round = 0; round < 5; round += 1) {
      const nodeId = unique('Race')
      const nodes = await Promise.all(both.map((owned) => trusting(owned, nodeId)))
      const tokens = await Promise.all(nodes.map((node) => node.token()))
      const done = await Promise.all(nodes.map((node, index) => publish(node, tokens[index] ?? '')))
      assert.deepEqual(new Set(statusesOf(done)), new Set([201, 403]))
      const winner = both[done.findIndex(({ status }) => status === 201)]
      const read = await anonymous.get(`/nodes/${nodeId}`)
      assert.equal(memberOf(read, 'publisher')['id'], winner?.id)
    }
  })

  test('whose jobs publish several versions at once makes one node with all of them', async () => {
    const owned = await registry.addPublisher()
    const node = await trusting(owned)
    const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0']
    const tokens = await Promise.all(versions.map(() => node.token()))
    const done = await Promise.all(
      versions.map((version, index) => publish(node, tokens[index] ?? '', version)),
    )
    assert.deepEqual(statusesOf(done), [201, 201, 201, 201])
    const read = listOf(await anonymous.get(`/nodes/${node.nodeId}/versions`))
    assert.deepEqual(new Set(columnsOf(read, 'version').flat()), new Set(versions))
  })
})

test('a publication that waits for a transfer, and back, is rejected: its token has ended', async () => {
  const node = await addTrusting()
  const other = await registry.addPublisher()
  const token = await node.token()
  const { nodeId, owned } = node
  const { publishing } = await sql.begin(async (sql) => {
    assert.equal(await transferNode(sql, { nodeId, to: other.id, audit: AUDIT }), 'moved')
    const publishing = publish(node, token)
    await waitForLock()
    assert.equal(await transferNode(sql, { nodeId, to: owned.id, audit: AUDIT }), 'moved')
    return { publishing }
  })
  expectStatus(await publishing, 403, 'invalid_personal_access_token')
  assert.deepEqual(listOf(await anonymous.get(`/nodes/${nodeId}/versions`)), [])
})

test('a transfer to a publisher waits for trust that is being added, and ends it', async () => {
  const [owned, other] = [await registry.addPublisher(), await registry.addPublisher()]
  const nodeId = unique('late')
  const node = toCome(owned, nodeId)
  const given = {
    publisherId: owned.id,
    node_id: nodeId,
    provider: 'github' as const,
    issuer: ci.issuer,
    claims: CLAIMS,
    created_by: owned.user,
  }
  const { moving } = await sql.begin(async (sql) => {
    assert.ok(typeof (await insertTrustedPublisher(sql, given, AUDIT)) === 'object')
    expectStatus(await other.publish({ nodeId }), 201)
    const moving = transfer(nodeId, other, owned)
    await waitForLock()
    return { moving }
  })
  await moving
  expectStatus(await exchange(node), 403, 'identity_token_refused')
})

describe('the code host of a repository that is to be trusted', () => {
  const trust = async (fields: object) => {
    const owned = await registry.addPublisher()
    return await toCome(owned, unique('checked')).trust(fields)
  }
  const of = (id: string, more: object = {}) => ({
    claims: { ...CLAIMS, repository_id: id, ...more },
  })

  test('says that the workflow is there', async () => {
    const made = expectStatus(
      await trust(of(JOB.repository_id, { repository: 'Acme/Image-Tools' })),
      201,
    )
    assert.ok(!('warnings' in made.body))
  })

  test('has a public repository without the workflow, or of another path: 400', async () => {
    ci.setRepository('77', { path: 'acme/other', files: [] })
    const missing = expectStatus(await trust(of('77')), 400, 'validation_failed')
    assert.match(
      missing.body.message ?? '',
      /\/claims\/workflow_file must be in the default branch of acme\/other, got/,
    )
    const named = await trust(of('77', { repository: 'acme/tools' }))
    assert.match(
      expectStatus(named, 400, 'validation_failed').body.message ?? '',
      /\/claims\/repository must be "acme\/other", which repository_id names, got "acme\/tools"/,
    )
  })

  test('does not say what it has: a warning, and the trust is there', async () => {
    const CASES: [Parameters<typeof respond>, RegExp][] = [
      [[404], /shows nobody a repository with the repository_id 78: it is private, or the number/],
      [[403], /was not checked, because .* did not say so: status 403/],
      [[200, {}, 'no JSON'], /was not checked/],
    ]
    for (const [reply, warning] of CASES) {
      ci.setRepository('78', respond(...reply))
      const { body } = expectStatus(await trust(of('78')), 201)
      assert.match(String(body['warnings']), warning)
    }
    const github = { issuer: undefined, ...of('123') }
    const away = expectStatus(await trust(github), 201)
    assert.match(String(away.body['warnings']), /because https:\/\/github\.com did not say so/)
  })

  test('may be one of GitLab, and none of another issuer', async () => {
    const path = `${new URL(ci.issuer).pathname}/api/v4/projects/22`
    ci.server.script(path, respond(200, {}, '{"path_with_namespace":"group/sub/project"}'))
    const file = `${path}/repository/files/ci%2Fpublish.yml?ref=HEAD`
    ci.server.script(file, respond(404))
    const claims = { project_id: '22', workflow_file: 'ci/publish.yml' }
    const missing = await trust({ provider: 'gitlab', claims })
    const { body } = expectStatus(missing, 400, 'validation_failed')
    assert.match(body.message ?? '', /branch of group\/sub\/project/)
    ci.server.script(file, respond(200))
    assert.ok(!('warnings' in expectStatus(await trust({ provider: 'gitlab', claims }), 201).body))
    const other = await trust({ provider: 'oidc', claims: { sub: 'x' } })
    assert.ok(!('warnings' in expectStatus(other, 201).body))
  })
})
