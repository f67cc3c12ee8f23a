import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { startDatabaseProxy, type DatabaseProxy } from '../../platform/db/proxy.ts'
import { expectStatus, listOf, memberOf } from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { AWAITS_OUTAGE } from '../../support/service.ts'
import { allowConnections, createDatabase, type TestDatabase } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'
import { startRegistry, unique, type Added, type Owned, type Registry } from './registry-support.ts'

let database: TestDatabase
let proxy: DatabaseProxy
let registry: Registry
let owned: Owned

before(async () => {
  database = await createDatabase()
  proxy = await startDatabaseProxy(database.url)
  registry = await startRegistry({ database: { ...database, url: proxy.url }, env: AWAITS_OUTAGE })
  owned = await registry.addPublisher()
})

after(async () => {
  await registry?.service.stop()
  await proxy?.close()
})

interface Shown {
  /** In every text of the node, and in those of no other test. */
  word: string
  first: Added
  second: Added
}

/** A node with the versions 1.0.0 and 2.0.0, each with a host node. */
const makeShown = async (): Promise<Shown> => {
  const word = unique('word').replace('-', '')
  const nodeId = await owned.addNode({
    description: word,
    repository: `https://x.org/${word}`,
    supported_os: [word],
  })
  const add = async (number: string): Promise<Added> => {
    const added = await owned.addActive({ nodeId, version: number })
    const body = { nodes: { [`${word}-${number}`]: {} } }
    expectStatus(await owned.owner.post(`${added.version}/host-nodes`, body), 204)
    return added
  }
  return { word, first: await add('1.0.0'), second: await add('2.0.0') }
}

/** Lists the paths of a version, with the code that says it is gone. */
const versionPaths = (
  { word, first: { nodeId, node } }: Shown,
  version: string,
  gone?: string,
): [path: string, code: string][] => {
  const path = `${node}/versions/${version}`
  const code = gone ?? 'version_not_found'
  return [
    [path, code],
    [`${path}/findings`, code],
    [`${path}/host-nodes`, code],
    [`${path}/host-nodes/${word}-${version}`, code],
    [`/host-nodes/${word}-${version}/node`, 'host_node_not_found'],
    [`${node}/install?version=${version}`, gone ?? 'version_not_installable'],
    [`/archives/${owned.id}/${nodeId}/${version}/node.zip`, gone ?? 'archive_not_found'],
  ]
}

const everybody = (): Client[] => [registry.anonymous, owned.owner, registry.admin]

const assertGone = async (paths: readonly [string, string][]): Promise<void> => {
  for (const [path, code] of paths)
    for (const client of everybody()) {
      const { body } = expectStatus(await client.get(path), 404, code)
      assert.doesNotMatch(String(body['message']), /deleted by/, path)
    }
}

const countIn = async (client: Client, path: string, { first }: Shown): Promise<number> => {
  const { body }: HttpResponse = expectStatus(await client.get(path), 200)
  const list = Array.isArray(body) ? body : (body['nodes'] ?? body['versions'])
  return (list as { id?: string; node_id?: string }[]).filter(({ id, node_id }) =>
    [id, node_id].includes(first.nodeId),
  ).length
}

const bulkStatus = async ({ first }: Shown, version: string): Promise<unknown> => {
  const body = { node_versions: [{ node_id: first.nodeId, version }] }
  const response = await registry.anonymous.post('/bulk/nodes/versions', body)
  return listOf(response, 'node_versions')[0]?.['status']
}

type Deletion = [who: string, remove: (shown: Shown) => Promise<HttpResponse>]

describe('a node that is deleted', () => {
  const DELETIONS: Deletion[] = [
    ['its owner', ({ first }) => owned.owner.delete(first.ownNode)],
    [
      'a platform admin',
      ({ first }) => registry.admin.put(`/admin${first.node}`, { status: 'NodeStatusDeleted' }),
    ],
  ]
  for (const [who, remove] of DELETIONS)
    test(`by ${who} is gone from every read, and whole when it is brought back`, async () => {
      const shown = await makeShown()
      const { word, first } = shown
      const { nodeId, node, ownNode } = first
      const { anonymous, admin } = registry
      const before = (await anonymous.get(node)).body
      const totals = async () =>
        await Promise.all(
          ['/nodes', '/versions'].map(async (path) =>
            Number((await anonymous.get(path)).body['total']),
          ),
        )
      const [nodes = 0, versions = 0] = await totals()
      assert.ok((await remove(shown)).status < 300, 'deleted')
      const gone = 'node_not_found'
      await assertGone([
        [node, gone],
        [`${node}/versions`, gone],
        [`${node}/versions?statuses=NodeVersionStatusDeleted`, gone],
        [`${node}/install`, gone],
        ...versionPaths(shown, '1.0.0', gone),
        ...versionPaths(shown, '2.0.0', gone),
      ])
      const nodeLists = [
        `/nodes?node_id=${nodeId}`,
        `/nodes?supported_os=${word}`,
        '/nodes?limit=1000',
        `/nodes/search?search=${word}`,
        `/nodes/search?repository_url_search=${word}`,
        `/nodes/search?host_node_search=${word}`,
        `${owned.path}/nodes?limit=1000`,
      ]
      const list = `/versions?nodeId=${nodeId}`
      const deleted = '&statuses=NodeVersionStatusDeleted&statuses=NodeVersionStatusActive'
      for (const path of [...nodeLists, list, list + deleted])
        for (const client of everybody())
          for (const wish of ['', `${path.includes('?') ? '&' : '?'}include_banned=true`])
            assert.equal(await countIn(client, path + wish, shown), 0, path + wish)
      assert.deepEqual(await totals(), [nodes - 1, versions - 2])
      assert.equal(await bulkStatus(shown, '1.0.0'), 'not_found')
      expectStatus(await owned.publish({ nodeId, version: '3.0.0' }), 409, 'node_deleted')
      expectStatus(await owned.owner.put(ownNode, {}), 404, gone)
      expectStatus(await owned.owner.delete(ownNode), 404, gone)

      expectStatus(await admin.put(`/admin${node}`, { status: 'NodeStatusActive' }), 200)
      assert.deepEqual((await anonymous.get(node)).body, before)
      for (const path of nodeLists) assert.equal(await countIn(anonymous, path, shown), 1, path)
      assert.equal(await countIn(anonymous, list, shown), 2)
      assert.equal(await bulkStatus(shown, '1.0.0'), 'success')
    })
})

describe('a version that is deleted', () => {
  const DELETIONS: Deletion[] = [
    ['its owner', ({ second }) => owned.owner.delete(second.ownVersion)],
    [
      'a platform admin',
      ({ second }) =>
        registry.admin.put(`/admin${second.version}`, { status: 'NodeVersionStatusDeleted' }),
    ],
  ]
  for (const [who, remove] of DELETIONS)
    test(`by ${who} is gone from every read, and the other is as it was`, async () => {
      const shown = await makeShown()
      const { word, first, second } = shown
      const { nodeId, node } = first
      const { anonymous } = registry
      assert.ok((await remove(shown)).status < 300, 'deleted')
      await assertGone(versionPaths(shown, '2.0.0'))
      for (const path of [
        `${node}/versions`,
        `/versions?nodeId=${nodeId}`,
        // Those who name the status see that there was one.
        `${node}/versions?statuses=NodeVersionStatusDeleted`,
        `/versions?nodeId=${nodeId}&statuses=NodeVersionStatusDeleted`,
      ])
        for (const client of everybody()) assert.equal(await countIn(client, path, shown), 1, path)
      assert.equal(await bulkStatus(shown, '2.0.0'), 'not_found')
      assert.equal(await bulkStatus(shown, '1.0.0'), 'success')
      assert.equal(memberOf(await anonymous.get(node), 'latest_version')['version'], '1.0.0')
      assert.equal((await anonymous.get(`${node}/install`)).body['version'], '1.0.0')
      assert.equal((await anonymous.get(`/host-nodes/${word}-1.0.0/node`)).status, 200)
      const found = await anonymous.get(`/nodes/search?host_node_search=${word}-2.0.0`)
      assert.equal(found.body['total'], 0)
      const { ownVersion } = second
      for (const rejected of [
        await owned.owner.put(ownVersion, {}),
        await owned.owner.delete(ownVersion),
        await owned.owner.post(`${ownVersion}/review`, {}),
        await owned.owner.post(`${second.version}/host-nodes`, { nodes: {} }),
        await owned.owner.post(`${second.version}/host-nodes`, { success: false }),
      ])
        expectStatus(rejected, 404, 'version_not_found')
      expectStatus(await owned.publish({ nodeId, version: '2.0.0' }), 409, 'version_exists')
    })
})

describe('a delete that the database does not carry out', () => {
  const KINDS = ['token', 'member', 'version', 'node'] as const
  const paths = {} as Record<(typeof KINDS)[number], string>
  before(async () => {
    const { ownNode, ownVersion } = await owned.addActive()
    const { user } = await owned.addMember('member')
    const [token] = listOf(await owned.owner.get(`${owned.path}/tokens`))
    Object.assign(paths, {
      token: `${owned.path}/tokens/${String(token?.['id'])}`,
      member: `${owned.path}/members/${user}`,
      version: ownVersion,
      node: ownNode,
    })
  })

  const takeStock = async (): Promise<object> => {
    const [row] = await database.sql`
      select
        (select json_agg(n order by n.id) from node n) as nodes,
        (select json_agg(s order by s.node_id) from node_stats s) as stats,
        (select json_agg(v order by v.id) from version v) as versions,
        (select json_agg(m order by m.at, m.id) from version_transition m) as moves,
        (select json_agg(m order by m.user_id) from publisher_member m) as members,
        (select json_agg(t order by t.id) from personal_access_token t) as tokens,
        (select json_agg(c order by c.kind, c.slot) from listed_count c) as counts
    `
    return { ...row }
  }

  test('is 503 while the database is away, and changes nothing', async () => {
    const before = await takeStock()
    await allowConnections(database, false)
    try {
      for (const kind of KINDS) {
        const rejected = expectStatus(await owned.owner.delete(paths[kind]), 503, 'unavailable')
        assert.ok(Number(rejected.headers.get('retry-after')) > 0, kind)
        assert.doesNotMatch(rejected.body.message ?? '', /sql|postgres|connect|database "/i, kind)
      }
    } finally {
      await allowConnections(database, true)
    }
    await waitFor('the database is back', () => takeStock().catch(() => undefined))
    assert.deepEqual(await takeStock(), before)
  })

  for (const kind of ['member', 'version', 'node'] as const)
    test(`of a ${kind} is 503 when its COMMIT is lost, and changes nothing`, async () => {
      const before = await takeStock()
      await waitFor('the api has its database', async () => {
        const { status } = await registry.anonymous.get('/nodes')
        return status === 200
      })
      Object.assign(proxy, { issue: 'lost before', of: owned.user })
      const rejected = expectStatus(await owned.owner.delete(paths[kind]), 503, 'outcome_unknown')
      assert.ok(Number(rejected.headers.get('retry-after')) > 0, kind)
      assert.deepEqual(await takeStock(), before)
    })

  test('is done when it is repeated', async () => {
    for (const kind of KINDS) {
      const response = await waitFor(`the ${kind} is deleted`, async () => {
        const response = await owned.owner.delete(paths[kind])
        return response.status !== 503 && response
      })
      expectStatus(response, 204)
    }
  })
})
