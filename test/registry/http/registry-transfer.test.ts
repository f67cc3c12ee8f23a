import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'

import { atOnce, expectStatus, listOf, memberOf } from '../../support/client.ts'
import { makeToken, unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { admin, anonymous, sql } = registry
const owned = usePublisher(registry)

describe('a report about a node', () => {
  test('is one for each user, and ends with a decision that its author reads', async () => {
    const { node } = await owned.addActive()
    const [alice, bob] = [await registry.addUser('alice'), await registry.addUser('bob')]
    const path = `${node}/reports`
    const report = { reason: 'malware', text: 'It sends files away.' }
    expectStatus(await anonymous.post(path, report), 401, 'unauthorized')
    for (const bad of [{ ...report, reason: 'ugly' }, { reason: 'spam' }])
      expectStatus(await alice.client.post(path, bad), 400, 'validation_failed')
    expectStatus(await alice.client.post('/nodes/none/reports', report), 404, 'node_not_found')
    const first = expectStatus(await alice.client.post(path, report), 201).body
    const again = await alice.client.post(path, { ...report, text: 'And more.' })
    assert.equal(expectStatus(again, 201).body['id'], first['id'])
    expectStatus(await bob.client.post(path, { reason: 'broken', text: 'no' }), 201)

    expectStatus(await owned.owner.get('/admin/reports'), 403, 'forbidden')
    const nodeId = node.slice('/nodes/'.length)
    const queue = async (query = '?pageSize=100') =>
      listOf(await admin.get(`/admin/reports${query}`), 'reports').filter(
        ({ node_id: id }) => id === nodeId,
      )
    const [one, two] = await queue()
    assert.deepEqual(
      [one?.['text'], one?.['reported_by'], one?.['open_of_node'], two?.['reason']],
      ['And more.', alice.user, 2, 'broken'],
    )
    const close = `/admin/reports/${String(first['id'])}/close`
    const decision = { decision: 'The pack is banned.', all: true }
    expectStatus(await alice.client.post(close, decision), 403, 'forbidden')
    assert.deepEqual(expectStatus(await admin.post(close, decision), 200).body, { closed: 2 })
    expectStatus(await admin.post(close, decision), 404, 'report_not_found')
    expectStatus(await admin.post('/admin/reports/1/close', decision), 404, 'report_not_found')
    assert.deepEqual(await queue(), [])
    assert.equal((await queue(`?nodeId=${nodeId.toUpperCase()}`)).length, 2)
    const mine = listOf(await bob.client.get(`${path}/mine`), 'reports')
    assert.deepEqual([mine.length, mine[0]?.['decision']], [1, decision.decision])
    const log = listOf<{ target: string }>(
      await admin.get(`/admin/audit-log?action=report.close&pageSize=100`),
      'entries',
    )
    assert.ok(log.some(({ target }) => target === `node/${nodeId}`))
  })
})

describe('the transfer of a node', () => {
  const offer = async () => {
    const other = await registry.addPublisher()
    const added = await owned.addActive()
    const path = `${added.ownNode}/transfer`
    const made = expectStatus(await owned.owner.post(path, { to: other.id }), 201).body
    const at = `${other.path}/transfers/${String(made['id'])}`
    return { other, added, path, made, at }
  }

  test('is offered by an owner, accepted by one of the other, and takes tokens and trust along', async () => {
    const { other, added, made, at } = await offer()
    const { nodeId, node } = added
    const scoped = { name: 'ci', node_id: nodeId }
    const path = `${owned.path}/tokens`
    const token = String(expectStatus(await owned.owner.post(path, scoped), 201).body['token'])
    const pending = await owned.addVersion({ nodeId, version: '1.1.0' })
    for (const { owner, path } of [owned, other])
      assert.ok(
        listOf(await owner.get(`${path}/transfers`), 'transfers').some(
          ({ id }) => id === made['id'],
        ),
      )
    const member = await other.addMember('admin')
    expectStatus(await member.client.post(`${at}/accept`, {}), 403, 'forbidden')
    // The side that offers cannot accept.
    const ownSide = `${owned.path}/transfers/${String(made['id'])}/accept`
    expectStatus(await owned.owner.post(ownSide, {}), 404, 'transfer_not_found')
    const before = String((await anonymous.get(node)).headers.get('etag'))
    const moved = expectStatus(await other.owner.post(`${at}/accept`, {}), 200)
    assert.equal(memberOf(moved, 'publisher')['id'], other.id)
    expectStatus(await other.owner.post(`${at}/accept`, {}), 404, 'transfer_not_found')
    assert.equal((await anonymous.get(node, { 'if-none-match': before })).status, 200)

    for (const tried of [owned.token, token]) {
      const denied = await owned.publish({ nodeId, version: '2.0.0', token: tried })
      assert.equal(denied.status, 403)
    }
    expectStatus(await owned.owner.put(added.ownNode, { name: 'Mine' }), 404, 'node_not_found')
    assert.equal((await fetch(pending.signedUrl, { method: 'PUT', body: 'PK' })).status, 409)
    const own = {
      ...other,
      nodeId,
      version: '2.0.0',
      token: await makeToken(other.owner, other.id),
    }
    expectStatus(await other.publish(own), 201)
    const [entry] = listOf(
      await admin.get(`/admin/audit-log?target=node/${nodeId}&action=node.transfer`),
      'entries',
    )
    assert.deepEqual(
      [entry?.['before'], entry?.['after']],
      [{ publisher: owned.id }, { publisher: other.id }],
    )
    // An address from before still leads to the archive.
    for (const publisher of [owned.id, other.id]) {
      const archive = await anonymous.get(`/archives/${publisher}/${nodeId}/1.0.0/node.zip`)
      assert.notEqual(archive.body.error, 'node_not_found')
    }
    expectStatus(
      await anonymous.get(`/archives/acme-none/${nodeId}/1.0.0/node.zip`),
      404,
      'publisher_not_found',
    )
  })

  test('is accepted once, however many accept at once', async () => {
    const { other, at } = await offer()
    const all = await atOnce(5, () => other.owner.post(`${at}/accept`, {}))
    assert.deepEqual(
      all.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 404, 404, 404, 404],
    )
  })

  test('is withdrawn, declined, replaced, or over after 14 days', async () => {
    for (const side of ['from', 'to'] as const) {
      const { other, at, made } = await offer()
      const id = String(made['id'])
      if (side === 'to') expectStatus(await other.owner.delete(at), 204)
      else expectStatus(await owned.owner.delete(`${owned.path}/transfers/${id}`), 204)
      expectStatus(await other.owner.post(`${at}/accept`, {}), 404, 'transfer_not_found')
    }
    const { other, at, path } = await offer()
    const third = await registry.addPublisher()
    expectStatus(await owned.owner.post(path, { to: third.id }), 201)
    expectStatus(await other.owner.post(`${at}/accept`, {}), 404, 'transfer_not_found')
    const late = await offer()
    await sql`update node_transfer set expires_at = now() where id = ${String(late.made['id'])}`
    expectStatus(await late.other.owner.post(`${late.at}/accept`, {}), 404, 'transfer_not_found')
    expectStatus(await owned.owner.post(path, { to: unique('none') }), 404, 'publisher_not_found')
    const absent = `${other.path}/transfers/${randomUUID()}`
    expectStatus(await other.owner.delete(absent), 404, 'transfer_not_found')
  })

  test('needs no offer from a platform admin', async () => {
    const other = await registry.addPublisher()
    const { nodeId } = await owned.addActive()
    const path = `/admin/nodes/${nodeId}/transfer`
    const body = { to: other.id, reason: 'the name was squatted' }
    expectStatus(await owned.owner.post(path, body), 403, 'forbidden')
    expectStatus(await admin.post(path, { to: other.id }), 400, 'validation_failed')
    expectStatus(await admin.post(path, { ...body, to: 'none' }), 404, 'publisher_not_found')
    const moved = expectStatus(await admin.post(path, body), 200)
    assert.equal(memberOf(moved, 'publisher')['id'], other.id)
  })
})
