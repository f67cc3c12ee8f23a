import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer, Client } from '../support/client.ts'
import {
  addActive,
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

/** What is left of a thing after each way to delete it; `registry-defects.test.ts` says which test is for which fault. */

let registry: Registry
let owned: Owned

before(async () => {
  registry = await startRegistry()
  owned = await makePublisher(registry)
})

after(() => registry?.stop())

/** A node with the versions 1.0.0 and 2.0.0, each with host nodes; the names are of no other test. */
const makeShown = async () => {
  const word = unique('word').replace('-', '')
  const nodeId = await makeNode(owned, {
    description: word,
    repository: `https://x.org/${word}`,
    supported_os: [word],
  })
  const ids: string[] = []
  for (const version of ['1.0.0', '2.0.0']) {
    ids.push(await addActive(registry, owned, { nodeId, version }))
    const body = { nodes: { [`${word}-${version}`]: {} } }
    const path = `/nodes/${nodeId}/versions/${version}/host-nodes`
    expectStatus(await registry.anonymous.post(path, body), 204)
  }
  return { nodeId, word, first: ids[0] ?? '', second: ids[1] ?? '' }
}

type Shown = Awaited<ReturnType<typeof makeShown>>

/** Where a node can be read, but for its versions, with the code that says it is gone; by lists, with what is left. */
const nodePaths = ({ nodeId }: Shown): [string, string][] => [
  [`/nodes/${nodeId}`, 'node_not_found'],
  [`/nodes/${nodeId}/versions`, 'node_not_found'],
  [`/nodes/${nodeId}/versions?statuses=NodeVersionStatusDeleted`, 'node_not_found'],
  [`/nodes/${nodeId}/install`, 'node_not_found'],
]

/** Where one of its versions can be read. */
const versionPaths = (
  { nodeId, word }: Shown,
  version: string,
  gone?: string,
): [string, string][] => {
  const path = `/nodes/${nodeId}/versions/${version}`
  return [
    [path, gone ?? 'version_not_found'],
    [`${path}/findings`, gone ?? 'version_not_found'],
    [`${path}/host-nodes`, gone ?? 'version_not_found'],
    [`${path}/host-nodes/${word}-${version}`, gone ?? 'version_not_found'],
    [`/host-nodes/${word}-${version}/node`, 'host_node_not_found'],
    [`/nodes/${nodeId}/install?version=${version}`, gone ?? 'version_not_installable'],
    [`/archives/${owned.id}/${nodeId}/${version}/node.zip`, gone ?? 'archive_not_found'],
  ]
}

const everybody = (): Client[] => [registry.anonymous, owned.owner, registry.admin]

const assertGone = async (paths: readonly [string, string][]): Promise<void> => {
  for (const [path, code] of paths)
    for (const client of everybody()) expectStatus(await client.get(path), 404, code)
}

/** Entries of a list that are of the node. */
const countIn = async (client: Client, path: string, { nodeId }: Shown): Promise<number> => {
  const { body }: Answer = expectStatus(await client.get(path), 200)
  const list = Array.isArray(body) ? body : (body['nodes'] ?? body['versions'])
  return (list as { id?: string; node_id?: string }[]).filter(({ id, node_id }) =>
    [id, node_id].includes(nodeId),
  ).length
}

const nodeLists = ({ nodeId, word }: Shown): string[] => [
  `/nodes?node_id=${nodeId}`,
  `/nodes?supported_os=${word}`,
  '/nodes?limit=1000',
  `/nodes/search?search=${word}`,
  `/nodes/search?repository_url_search=${word}`,
  `/nodes/search?host_node_search=${word}`,
  `/publishers/${owned.id}/nodes?limit=1000`,
]

const bulkStatus = async (shown: Shown, version: string): Promise<unknown> => {
  const body = { node_versions: [{ node_id: shown.nodeId, version }] }
  const answer = await registry.anonymous.post('/bulk/nodes/versions', body)
  return (answer.body['node_versions'] as unknown as { status: string }[])[0]?.status
}

describe('a node that is deleted', () => {
  const DELETIONS: [who: string, remove: (shown: Shown) => Promise<Answer>][] = [
    [
      'its owner',
      ({ nodeId }) => owned.owner.call('DELETE', `/publishers/${owned.id}/nodes/${nodeId}`),
    ],
    [
      'a platform admin',
      ({ nodeId }) =>
        registry.admin.call('PUT', `/admin/nodes/${nodeId}`, { status: 'NodeStatusDeleted' }),
    ],
  ]
  for (const [who, remove] of DELETIONS)
    test(`by ${who} is gone from every read, and whole when it is brought back`, async () => {
      const shown = await makeShown()
      const { nodeId } = shown
      const before = (await registry.anonymous.get(`/nodes/${nodeId}`)).body
      const totals = async () =>
        await Promise.all(
          ['/nodes', '/versions'].map(
            async (path) => (await registry.anonymous.get(path)).body['total'],
          ),
        )
      const [nodes, versions] = (await totals()).map(Number)
      assert.ok((await remove(shown)).status < 300, 'deleted')
      await assertGone([
        ...nodePaths(shown),
        ...versionPaths(shown, '1.0.0', 'node_not_found'),
        ...versionPaths(shown, '2.0.0', 'node_not_found'),
      ])
      const versionLists = [
        `/versions?nodeId=${nodeId}`,
        `/versions?nodeId=${nodeId}&statuses=NodeVersionStatusDeleted&statuses=NodeVersionStatusActive`,
      ]
      for (const path of [...nodeLists(shown), ...versionLists])
        for (const client of everybody()) {
          assert.equal(await countIn(client, path, shown), 0, path)
          const wish = `${path}${path.includes('?') ? '&' : '?'}include_banned=true`
          assert.equal(await countIn(client, wish, shown), 0, wish)
        }
      assert.deepEqual(await totals(), [Number(nodes) - 1, Number(versions) - 2])
      assert.equal(await bulkStatus(shown, '1.0.0'), 'not_found')
      expectStatus(await publish(owned, { nodeId, version: '3.0.0' }), 409, 'node_deleted')

      const back = { status: 'NodeStatusActive' }
      expectStatus(await registry.admin.call('PUT', `/admin/nodes/${nodeId}`, back), 200)
      assert.deepEqual((await registry.anonymous.get(`/nodes/${nodeId}`)).body, before)
      for (const path of nodeLists(shown))
        assert.equal(await countIn(registry.anonymous, path, shown), 1, path)
      assert.equal(await countIn(registry.anonymous, versionLists[0] ?? '', shown), 2)
      assert.equal(await bulkStatus(shown, '1.0.0'), 'success')
    })
})

describe('a version that is deleted', () => {
  const DELETIONS: [who: string, remove: (shown: Shown) => Promise<Answer>][] = [
    [
      'its owner',
      ({ nodeId, second }) =>
        owned.owner.call('DELETE', `/publishers/${owned.id}/nodes/${nodeId}/versions/${second}`),
    ],
    [
      'a platform admin',
      ({ nodeId }) =>
        registry.admin.call('PUT', `/admin/nodes/${nodeId}/versions/2.0.0`, {
          status: 'NodeVersionStatusDeleted',
        }),
    ],
  ]
  for (const [who, remove] of DELETIONS)
    test(`by ${who} is gone from every read, and the other is as it was`, async () => {
      const shown = await makeShown()
      const { nodeId, second } = shown
      const { anonymous } = registry
      assert.ok((await remove(shown)).status < 300, 'deleted')
      await assertGone(versionPaths(shown, '2.0.0'))
      for (const [path, count] of [
        [`/nodes/${nodeId}/versions`, 1],
        [`/versions?nodeId=${nodeId}`, 1],
        // Those who name the status are told that there was one.
        [`/nodes/${nodeId}/versions?statuses=NodeVersionStatusDeleted`, 1],
        [`/versions?nodeId=${nodeId}&statuses=NodeVersionStatusDeleted`, 1],
      ] as const)
        for (const client of everybody())
          assert.equal(await countIn(client, path, shown), count, path)
      assert.equal(await bulkStatus(shown, '2.0.0'), 'not_found')
      assert.equal(await bulkStatus(shown, '1.0.0'), 'success')
      const { body } = await anonymous.get(`/nodes/${nodeId}`)
      assert.equal((body['latest_version'] as unknown as { version: string }).version, '1.0.0')
      assert.equal((await anonymous.get(`/nodes/${nodeId}/install`)).body['version'], '1.0.0')
      assert.equal((await anonymous.get(`/host-nodes/${shown.word}-1.0.0/node`)).status, 200)
      const found = await anonymous.get(`/nodes/search?host_node_search=${shown.word}-2.0.0`)
      assert.equal(found.body['total'], 0)
      const own = `/publishers/${owned.id}/nodes/${nodeId}/versions/${second}`
      for (const [method, path] of [
        ['PUT', own],
        ['DELETE', own],
        ['POST', `${own}/review`],
      ] as const)
        expectStatus(
          await owned.owner.call(method, path, method === 'DELETE' ? undefined : {}),
          404,
          'version_not_found',
        )
      for (const body of [{ nodes: {} }, { success: false }])
        expectStatus(
          await anonymous.post(`/nodes/${nodeId}/versions/2.0.0/host-nodes`, body),
          404,
          'version_not_found',
        )
      expectStatus(await publish(owned, { nodeId, version: '2.0.0' }), 409, 'version_exists')
    })
})

describe('a token that is deleted', () => {
  test('publishes nothing from then on, and is listed no more', async () => {
    const token = await makeToken(owned.owner, owned.id)
    const path = `/publishers/${owned.id}/tokens`
    const listed = listOf(await owned.owner.get(path))
    const id = listed.find((one) => String(one['token']).endsWith(token.slice(-4)))?.['id']
    expectStatus(await publish({ ...owned, token }, { nodeId: unique('node') }), 201)
    expectStatus(await owned.owner.call('DELETE', `${path}/${String(id)}`), 204)
    const refused = await publish({ ...owned, token }, { nodeId: unique('node') })
    expectStatus(refused, 403, 'invalid_personal_access_token')
    assert.equal(listOf(await owned.owner.get(path)).length, listed.length - 1)
  })
})
