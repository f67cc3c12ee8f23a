import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { assertMembers, columnsOf, expectStatus, listOf, pluck } from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { ADMIN, unique, usePublisher, useRegistry, type Owned } from './registry-support.ts'

const registry = useRegistry()
const { anonymous, admin, sql, place } = registry
const owned = usePublisher(registry)
const { owner } = owned

interface Entry {
  actor: string
  action: string
  before: Record<string, unknown>
  after: Record<string, unknown>
  request_id: string
}

const logOf = async (target: string): Promise<Entry[]> =>
  listOf<Entry>(
    await admin.get(`/admin/audit-log?actor=${ADMIN}&target=${encodeURIComponent(target)}`),
    'entries',
  )

const edit = (path: string, fields: object): Promise<HttpResponse> =>
  admin.put(`/admin${path}`, fields)

describe('a ban of a publisher', () => {
  /** Reads all that is public of a publisher and its nodes. */
  const poll = async ({ id }: Owned, nodeIds: readonly string[]): Promise<Map<string, unknown>> => {
    const [mixed] = nodeIds
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
      ...['1.0.0', '2.0.0', '3.0.0', '4.0.0'].map((number) => `/nodes/${mixed}/versions/${number}`),
      // An install of 3.0.0 would count.
      ...['1.0.0', '2.0.0', '4.0.0'].map((number) => `/nodes/${mixed}/install?version=${number}`),
      `/host-nodes/${mixed}/node`,
    ]
    const responses = await Promise.all(paths.map((path) => anonymous.get(path)))
    return new Map(
      responses.map(({ status, body }, at) => {
        const { request_id: _id, message: _message, ...rest } = body
        return [paths[at] ?? '', [status, Array.isArray(body) ? body : rest]]
      }),
    )
  }

  test('hides and rejects everything, and its end restores every status', async () => {
    const banned = await registry.addPublisher()
    const { owner, path: own } = banned
    const mixed = unique('node')
    const of = (version: string, given = {}) => ({ nodeId: mixed, version, given })
    await banned.addVersion(of('1.0.0'))
    await banned.addFlagged(of('2.0.0'))
    const { version } = await banned.addActive(of('3.0.0', { deprecated: true }))
    const { ownVersion } = await banned.addActive(of('4.0.0'))
    expectStatus(await owner.delete(ownVersion), 204)
    expectStatus(await owner.post(`${version}/host-nodes`, { nodes: { [mixed]: {} } }), 204)
    const [other, deleted] = [await banned.addActive(), await banned.addActive()]
    const nodeBan = { status: 'NodeStatusBanned', status_detail: 'malware' }
    expectStatus(await edit(other.node, nodeBan), 200)
    expectStatus(await owner.delete(deleted.ownNode), 204)
    const nodeIds = [mixed, other.nodeId, deleted.nodeId]

    const before = await poll(banned, nodeIds)
    const path = `/admin/publishers/${banned.id.toUpperCase()}`
    expectStatus(await admin.post(`${path}/ban`, {}), 400, 'validation_failed')
    const response = expectStatus(await admin.post(`${path}/ban`, { reason: 'spam' }), 200)
    assert.equal(response.body['status'], 'PublisherStatusBanned')
    expectStatus(await admin.post(`${path}/ban`, { reason: 'again' }), 200)

    for (const read of [
      own,
      `${own}/nodes`,
      `/nodes/${mixed}`,
      version,
      `/nodes/${mixed}/install`,
    ]) {
      const hidden = expectStatus(await anonymous.get(read), 403, 'publisher_banned')
      assert.doesNotMatch(hidden.body.message ?? '', /spam/)
    }
    // A node whose own ban ends under the ban stays hidden.
    expectStatus(await edit(other.node, { status: 'NodeStatusActive' }), 200)
    for (const query of nodeIds.flatMap((id) => [
      `/nodes?node_id=${id}`,
      `/nodes/search?search=${id}`,
      `/versions?nodeId=${id}`,
    ]))
      assert.equal((await anonymous.get(query)).body['total'], 0, query)
    expectStatus(await edit(other.node, nodeBan), 200)
    for (const rejected of [
      await owner.get(own),
      await owner.put(own, {}),
      await owner.post(`${own}/nodes`, { id: 'fresh' }),
      await owner.post(`${own}/tokens`, { name: 'x' }),
      await owner.put(`${own}/nodes/${mixed}`, {}),
      await owner.delete(`${own}/nodes/${mixed}`),
      await banned.publish(of('5.0.0')),
    ]) {
      expectStatus(rejected, 403, 'publisher_banned')
      assert.match(rejected.body.message ?? '', /spam/)
    }
    for (const read of [own, `/nodes/${mixed}`]) expectStatus(await admin.get(read), 200)
    const wish = `/nodes?node_id=${mixed}&include_banned=true`
    assert.equal((await admin.get(wish)).body['total'], 1)
    assert.equal((await owner.get(wish)).body['total'], 0)

    for (const reason of ['a mistake', ''])
      expectStatus(await admin.post(`${path}/unban`, { reason }), 200)
    assert.deepEqual(await poll(banned, nodeIds), before)
    assert.equal(listOf(await owner.get(`${own}/tokens`)).length, 1)
    expectStatus(await banned.publish(of('5.0.0')), 201)
    const entries = await logOf(`publisher/${banned.id}`)
    assert.deepEqual(columnsOf(entries, 'action', 'actor'), [
      ['publisher.unban', ADMIN],
      ['publisher.ban', ADMIN],
    ])
  })

  test('of what is not there is not found: publisher, node, version', async () => {
    const nodeId = await owned.addNode()
    const node = { status: 'NodeStatusBanned', status_detail: 'x' }
    const version = { status: 'NodeVersionStatusBanned', status_reason: 'x' }
    for (const [response, code] of [
      [await admin.post('/admin/publishers/none/ban', { reason: 'x' }), 'publisher_not_found'],
      [await admin.post('/admin/publishers/none/unban', {}), 'publisher_not_found'],
      [await edit('/nodes/none', node), 'node_not_found'],
      [await edit('/nodes/none/versions/1.0.0', version), 'node_not_found'],
      [await edit(`/nodes/${nodeId}/versions/1.0.0`, version), 'version_not_found'],
      [await edit(`/nodes/${nodeId}/versions/x`, version), 'version_not_found'],
      [await admin.post('/admin/nodes/none/versions/1.0.0/retry', {}), 'node_not_found'],
    ] as const)
      expectStatus(response, 404, code)
    assert.deepEqual(await logOf(`node/${nodeId}`), [])
  })
})

const INVITATION = { email: 'guest@example.com' }

describe('a platform admin', () => {
  test('moderates a node by legal transitions, each of which is logged', async () => {
    const nodeId = await owned.addNode()
    const path = `/nodes/${nodeId}`
    const given = {
      search_ranking: 1,
      preempted_host_node_names: ['A'],
      tags_admin: ['t'],
      github_stars: 3,
    }
    const { body, headers } = expectStatus(await edit(path, given), 200)
    assertMembers(body, given)
    const [entry] = await logOf(`node/${nodeId}`)
    assert.deepEqual([entry?.before['search_ranking'], entry?.after['search_ranking']], [5, 1])
    assert.equal(entry?.request_id, headers.get('x-request-id'))
    const ban = { status: 'NodeStatusBanned' }
    expectStatus(await edit(path, ban), 400, 'validation_failed')
    expectStatus(await edit(path, { ...ban, status_detail: 'malware' }), 200)
    const rejected = expectStatus(await owner.get(path), 403, 'node_banned')
    assert.match(rejected.body.message ?? '', /malware/)
    const own = `${owned.path}/nodes/${nodeId}`
    expectStatus(await owner.put(own, {}), 403, 'node_banned')
    expectStatus(await owner.delete(own), 403, 'node_banned')
    expectStatus(await owned.publish({ nodeId }), 403, 'node_banned')
    expectStatus(await anonymous.get('/host-nodes/A/node'), 404, 'host_node_not_found')
    expectStatus(await edit(path, { status: 'NodeStatusDeleted' }), 200)
    expectStatus(await edit(path, { ...ban, status_detail: 'x' }), 409, 'illegal_move')
    expectStatus(await edit(path, { status: 'NodeStatusActive' }), 200)
    expectStatus(await anonymous.get(path), 200)
    assert.deepEqual(listOf(await anonymous.get(`${path}/versions`)), [], 'nothing was published')
  })

  test('an admin stores what it sends of a node and a version, or gets what was not stored', async () => {
    const { node, nodeId, version } = await owned.addActive()
    const support = {
      supported_os: ['Linux'],
      supported_accelerators: ['CUDA'],
      supported_host_version: '>=1',
      supported_host_frontend_version: '>=2',
    }
    for (const path of [node, version]) {
      const { body } = expectStatus(await edit(path, support), 200)
      assert.deepEqual({ ...body, ...support }, body, path)
      for (const nothing of [{}, { supported_other_version: '1' }]) {
        const rejected = expectStatus(await edit(path, nothing), 400, 'validation_failed')
        assert.match(rejected.body.message ?? '', /^the body must set one of .*supported_os/)
      }
    }
    const other = { name: 'x', publisher: { id: 'other' } }
    for (const path of [`/admin${node}`, `${owned.path}/nodes/${nodeId}`]) {
      const rejected = expectStatus(await admin.put(path, other), 400, 'validation_failed')
      assert.match(rejected.body.message ?? '', /^\/publisher\/id must be pub-.*, got "other"$/)
    }
    assert.equal((await anonymous.get(node)).body['name'], nodeId)
  })

  test('sends a whole node back to the path of its publisher, and only the change is logged', async () => {
    const { node, nodeId, ownNode } = await owned.addActive({ node: { tags: ['a'] } })
    const send = async (client: Client, fields: object, headers = {}) =>
      await client.put(ownNode, { ...(await admin.get(node)).body, ...fields }, headers)
    const given = { search_ranking: 2, preempted_host_node_names: ['B'], tags: ['b'] }
    // Of a member, what is not theirs to set is ignored.
    const edited = expectStatus(await send(owner, { ...given, status: 5 }), 200)
    assert.deepEqual([edited.body['search_ranking'], edited.body['tags']], [5, ['b']])
    expectStatus(await send(admin, { ...given, tags: ['c'] }), 200)
    const [entry] = await logOf(`node/${nodeId}`)
    assert.deepEqual(entry?.after, { ...given, tags: ['c'] })
    expectStatus(await send(admin, {}), 200)
    assert.equal((await logOf(`node/${nodeId}`)).length, 1)
    expectStatus(await send(admin, {}, { 'if-match': '"0"' }), 412, 'precondition_failed')
    expectStatus(await send(admin, { search_ranking: 11 }), 400, 'validation_failed')
    const ban = { status: 'NodeStatusBanned', status_detail: 'spam' }
    expectStatus(await send(admin, { ...ban, status_detail: '' }), 400, 'validation_failed')
    expectStatus(await send(admin, ban), 200)
    expectStatus(await anonymous.get(node), 403, 'node_banned')
    expectStatus(await send(admin, { status: 'NodeStatusActive' }), 200)
    assert.deepEqual((await anonymous.get(node)).body['tags'], ['c'])
  })

  test('decides on a review, and each transition of the version has an actor', async () => {
    const { id, nodeId, version, ownVersion } = await owned.addFlagged()
    const ask = (body: object) => owner.post(`${ownVersion}/review`, body)
    const made = expectStatus(await ask({ note: 'a test' }), 201)
    assert.deepEqual([made.body['version_id'], made.body['note']], [id, 'a test'])
    expectStatus(await ask({}), 409, 'review_already_requested')
    const countOpen = async () =>
      (await admin.get(`/versions?nodeId=${nodeId}&review_requested=true`)).body['total']
    assert.equal(await countOpen(), 1)
    expectStatus(await edit(version, { status_reason: 'looked at' }), 200)
    assert.equal(await countOpen(), 0)
    expectStatus(await ask({}), 201)
    const activate = { status: 'NodeVersionStatusActive', status_reason: 'harmless' }
    // Its archive was never accepted.
    const early = expectStatus(await edit(version, activate), 409, 'illegal_move')
    assert.match(String(early.body['message']), /because no archive of it was accepted; it can/)
    await place.accept(id, id)
    const { body } = expectStatus(await edit(version, activate), 200)
    assert.deepEqual([body['status'], body['status_reason']], Object.values(activate))
    assert.equal(await countOpen(), 0)
    const findings = await owner.get(`${version}/findings`)
    const [review] = listOf(findings, 'reviews')
    assert.deepEqual([review?.['by'], typeof review?.['closed_at']], [owned.user, 'string'])
    expectStatus(await ask({}), 409, 'version_not_flagged')
    assert.deepEqual(columnsOf(listOf(findings, 'moves'), 'from', 'to', 'actor'), [
      [undefined, 'NodeVersionStatusPending', `user:${owned.user}`],
      ['NodeVersionStatusPending', 'NodeVersionStatusFlagged', 'workflow'],
      ['NodeVersionStatusFlagged', 'NodeVersionStatusActive', `user:${ADMIN}`],
    ])
  })

  test('an admin blocks a version with a reason that all see, and its owner cannot delete it', async () => {
    const { node, nodeId, version, ownVersion } = await owned.addActive()
    for (const status of ['NodeVersionStatusFlagged', 'NodeVersionStatusBanned']) {
      for (const reason of [undefined, ' ']) {
        const rejected = await edit(version, { status, status_reason: reason })
        expectStatus(rejected, 400, 'validation_failed')
      }
      const reason = `it mines coins: ${status}`
      expectStatus(await edit(version, { status, status_reason: reason }), 200)
      assert.equal((await anonymous.get(version)).body['status_reason'], reason)
      for (const blocked of [
        `${node}/install?version=1.0.0`,
        `/archives/${owned.id}/${nodeId}/1.0.0/node.zip`,
      ]) {
        const rejected = expectStatus(await anonymous.get(blocked), 403, 'version_blocked')
        assert.ok(rejected.body.message?.includes(reason), rejected.body.message)
      }
      const transitions = listOf(await owner.get(`${version}/findings`), 'moves')
      const { at: _at, from: _from, ...last } = transitions.at(-1) ?? {}
      assert.deepEqual(last, { to: status, reason, actor: `user:${ADMIN}` })
    }
    expectStatus(await owner.delete(ownVersion), 409, 'illegal_move')
    assert.equal('latest_version' in (await anonymous.get(node)).body, false)
    expectStatus(await edit(version, { status: 'NodeVersionStatusDeleted' }), 200)
    const activate = { status: 'NodeVersionStatusActive', status_reason: 'x' }
    expectStatus(await edit(version, activate), 404, 'version_not_found')
  })

  test('sets policies of host nodes that are there', async () => {
    const { version } = await owned.addActive()
    await owned.owner.post(`${version}/host-nodes`, { nodes: { A: {} } })
    const put = (policies: object) => edit(version, { host_node_policies: policies })
    expectStatus(await put({ A: 'HostNodePolicyLocalOnly' }), 200)
    expectStatus(await put({ B: 'HostNodePolicyBanned' }), 404, 'host_node_not_found')
    expectStatus(await put({ A: 'None' }), 400, 'validation_failed')
    const { body } = await anonymous.get(`${version}/host-nodes/A`)
    assert.equal(body['policy'], 'HostNodePolicyLocalOnly')
  })

  test('bans a host node in all versions of a node, past and to come, and wherever it is searched', async () => {
    const [name, kept] = [unique('Shredder'), unique('Kept')]
    const publish = async (version: string, nodeId = unique('node')) => {
      const added = await owned.addActive({ nodeId, version })
      const nodes = { [name]: {}, [kept]: {} }
      expectStatus(await owned.owner.post(`${added.version}/host-nodes`, { nodes }), 204)
      return added
    }
    const first = await publish('1.0.0')
    const { nodeId } = first
    const other = await publish('1.0.0')
    const ownerOf = async () => (await anonymous.get(`/host-nodes/${name}/node`)).body['id']
    const find = async (search: string) => {
      const response = await anonymous.get(`/nodes/search?host_node_search=${search}&facets=true`)
      return pluck(listOf(response, 'nodes')).toSorted()
    }
    const both = [nodeId, other.nodeId].toSorted()
    assert.deepEqual([await ownerOf(), await find(name)], [nodeId, both])
    const path = `/nodes/${nodeId}/host-nodes/${name}`
    const ban = { policy: 'HostNodePolicyBanned' }
    const silent = await edit(path, ban)
    assert.match(
      expectStatus(silent, 400, 'validation_failed').body.message ?? '',
      /^\/reason must be given with the policy HostNodePolicyBanned/,
    )
    expectStatus(
      await edit('/nodes/none/host-nodes/x', { ...ban, reason: 'x' }),
      404,
      'node_not_found',
    )
    const mistyped = await edit(`${path}s`, { ...ban, reason: 'x' })
    assert.deepEqual(expectStatus(mistyped, 200).body['warnings'], [
      `No version of the pack has the host node "${name}s" now: the policy waits for one. Names are compared exactly.`,
    ])
    const since = new Date().toISOString()
    const put = expectStatus(await edit(path, { ...ban, reason: 'it deletes files' }), 200)
    assert.equal(put.body['warnings'], undefined)
    const banned = { ...ban, policy_reason: 'it deletes files' }
    assertMembers(put.body, { ...banned, node_id: nodeId, host_node_name: name, versions: 1 })
    const second = await publish('1.0.1', nodeId)
    for (const { version } of [first, second]) {
      assertMembers((await anonymous.get(`${version}/host-nodes/${name}`)).body, banned)
      const active = await anonymous.get(`${version}/host-nodes?policy=HostNodePolicyActive`)
      assert.deepEqual(pluck(listOf(active, 'host_nodes'), 'host_node_name'), [kept])
      assert.equal(active.body['total'], 1)
    }
    assert.deepEqual([await ownerOf(), await find(name)], [other.nodeId, [other.nodeId]])
    assert.deepEqual(await find(kept), both)
    const changed = await anonymous.get(`/nodes?timestamp=${since}&node_id=${nodeId}`)
    assert.equal(changed.body['total'], 1, 'copies learn of it')
    // A workflow of 1.0.0 was saved before the ban, one of 1.0.1 after it.
    const compare = (versions: string) => anonymous.get(`/nodes/${nodeId}/compare?${versions}`)
    const changesOf = async (versions: string) => listOf(await compare(versions), 'changes')
    const found = await changesOf('from=1.0.0&to=1.0.1')
    assert.deepEqual(columnsOf(found, 'host_node', 'code'), [[name, 'host_node_banned']])
    assert.deepEqual(await changesOf('from=1.0.1&to=1.0.0'), [])

    const allow = { host_node_policies: { [name]: 'HostNodePolicyActive' } }
    expectStatus(await edit(second.version, allow), 200)
    const { body } = await anonymous.get(`${first.version}/host-nodes/${name}`)
    assert.deepEqual([body['policy'], 'policy_reason' in body], ['HostNodePolicyActive', false])
    assert.deepEqual([await ownerOf(), await find(name)], [nodeId, both])
    const [entry] = await logOf(`node/${nodeId}`)
    assert.equal(entry?.action, 'host_node.update')
    assertMembers(entry.after, { host_node_name: name, ...banned })
  })

  test('starts a pending version again, and no other', async () => {
    const { id, nodeId } = await owned.addVersion()
    const restart = (id: string) => admin.post(`/admin/versions/${id}/restart`, {})
    const { body } = expectStatus(await restart(id.toUpperCase()), 200)
    const status = 'NodeVersionStatusPending'
    assert.deepEqual(body, { id, node_id: nodeId, version: '1.0.0', status, changed: true })
    const log = await logOf(`version/${nodeId}@1.0.0`)
    assert.deepEqual(pluck(log, 'action'), ['version.restart'])
    expectStatus(await restart((await owned.addActive()).id), 409, 'illegal_move')
    expectStatus(await restart(nodeId), 404, 'version_not_found')
    const member = await owner.post(`/admin/versions/${id}/restart`, {})
    expectStatus(member, 403, 'forbidden')
  })

  test('has checks that gave up run again', async () => {
    const { id, version } = await owned.addVersion()
    const retry = (key?: string) =>
      admin.post(`/admin${version}/retry`, {}, key ? { 'idempotency-key': key } : {})
    const awaited = expectStatus(await retry(), 409, 'nothing_to_retry')
    const stands = /the version is being checked: waiting for the archive$/
    assert.match(String(awaited.body['message']), stands)
    await place.receive(id, id)
    await place.transition(id, 'give_up_checks', 'checks could not run (storage)')
    const { body } = expectStatus(await retry(id), 200)
    assert.equal(body['status_reason'], 'archive received, checks are running')
    expectStatus(await retry(id), 200)
    expectStatus(await admin.call('POST', `/admin${version}/retry`), 409, 'nothing_to_retry')
    const rows = await sql`
      select kind from outbox where workflow_id = ${`publish-version/${id}`} order by id
    `
    assert.deepEqual(pluck(rows, 'kind'), ['start', 'restart'])
  })

  test('is who may do it', async () => {
    const { node, version } = await owned.addActive()
    const calls: [string, string, object?][] = [
      ['PUT', `/admin${node}`, { github_stars: 1 }],
      ['PUT', `/admin${version}`, { tags_admin: [] }],
      ['POST', `/admin${version}/retry`, {}],
      ['POST', `/admin${owned.path}/ban`, { reason: 'x' }],
      ['POST', `/admin${owned.path}/unban`, {}],
      ['GET', '/admin/audit-log'],
      ['POST', '/admin/invitations', INVITATION],
    ]
    for (const [method, path, body] of calls) {
      expectStatus(await owner.call(method, path, body), 403, 'forbidden')
      expectStatus(await anonymous.call(method, path, body), 401, 'unauthorized')
    }
    const invited = await admin.post('/admin/invitations', INVITATION)
    expectStatus(invited, 409, 'accounts_elsewhere')
    expectStatus(await admin.get('/admin/audit-log?action=x'), 400, 'validation_failed')
    const log = await admin.get(`/admin/audit-log?actor=${ADMIN}&pageSize=1`)
    assert.equal(expectStatus(log, 200).headers.get('cache-control'), 'private, no-cache')
  })
})
