import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer, Client } from '../support/client.ts'
import {
  addActive,
  addVersion,
  expectStatus,
  listOf,
  makeNode,
  makePublisher,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

/** Faults of other registries in what they list and find; `registry-defects.test.ts` says which test is for which. */

const MANY = 1000

let registry: Registry
let owned: Owned
/** All nodes that there are before the first test, in the order of their ids. */
const ids = Array.from({ length: MANY }, (_, n) => `Pack-${String(n).padStart(4, '0')}`)

before(async () => {
  registry = await startRegistry()
  owned = await makePublisher(registry)
  const { addNode } = registry.place
  const waiting = ids.map((id, n) => ({ id, description: n % 3 === 0 ? 'of the third kind' : '' }))
  const addAll = async () => {
    for (let node = waiting.shift(); node; node = waiting.shift())
      await addNode(node.id, { description: node.description }, owned.id)
  }
  await Promise.all(Array.from({ length: 8 }, addAll))
})

after(() => registry?.stop())

interface Listed {
  id: string
  search_ranking: number
  downloads: number
  created_at: string
}

const nodesOf = ({ body }: Answer): Listed[] => body['nodes'] as unknown as Listed[]

const idsOf = (nodes: readonly Listed[]): string[] => nodes.map(({ id }) => id)

/** Reads a list of nodes page by page to its `totalPages`. */
const walk = async (path: string, limit: number): Promise<Listed[]> => {
  const nodes: Listed[] = []
  for (let page = 1, last = 1; page <= last; page += 1) {
    const mark = path.includes('?') ? '&' : '?'
    const asked = `${path}${mark}page=${page}&limit=${limit}`
    const answer = expectStatus(await registry.anonymous.get(asked), 200)
    nodes.push(...nodesOf(answer))
    last = Number(answer.body['totalPages'])
    assert.equal(last, Math.ceil(Number(answer.body['total']) / limit))
  }
  return nodes
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const byRanking = (a: Listed, b: Listed): number =>
  a.search_ranking - b.search_ranking || b.downloads - a.downloads || compareTexts(a.id, b.id)

const byAge = (a: Listed, b: Listed): number => compareTexts(a.created_at, b.created_at)

/** The sort is stable: of equals it says nothing. */
const assertInOrder = (nodes: readonly Listed[], order: typeof byRanking): void =>
  assert.deepEqual(idsOf(nodes), idsOf(nodes.toSorted(order)))

const setByAdmin = async (nodeId: string, fields: object): Promise<void> => {
  expectStatus(await registry.admin.call('PUT', `/admin/nodes/${nodeId}`, fields), 200)
}

describe(`a registry of ${MANY} nodes`, () => {
  test('pages all nodes of a publisher', async () => {
    const path = `/publishers/${owned.id}/nodes`
    assert.equal(listOf(await registry.anonymous.get(path)).length, 100)
    for (const limit of [100, 333]) {
      const found: string[] = []
      for (let page = 1; found.length < MANY; page += 1) {
        const answer = await registry.anonymous.get(`${path}?page=${page}&limit=${limit}`)
        assert.equal(answer.headers.get('x-total-count'), String(MANY))
        found.push(...idsOf(listOf<Listed>(answer)))
        assert.equal(found.length, Math.min(page * limit, MANY))
      }
      assert.deepEqual(found, ids)
    }
  })

  test('is searched through in one order, each node once', async () => {
    await setByAdmin('Pack-0500', { search_ranking: 1 })
    await setByAdmin('Pack-0501', { search_ranking: 9 })
    const { sql } = registry.service.database
    await sql`update node_stats set downloads = 7 where node_id in ('Pack-0007', 'Pack-0070')`
    for (const [query, expected] of [
      ['', ids],
      ['?search=pack', ids],
      ['?search=third+kind', ids.filter((_id, n) => n % 3 === 0)],
    ] as const)
      for (const limit of [30, 100]) {
        const found = await walk(`/nodes/search${query}`, limit)
        assert.deepEqual(idsOf(found).toSorted(), expected, query)
        assertInOrder(found, byRanking)
      }
    const [first, second] = await walk('/nodes/search', 100)
    assert.deepEqual([first?.id, second?.id], ['Pack-0500', 'Pack-0007'])
  })

  test('is walked from the oldest to the newest, each node once', async () => {
    for (const limit of [30, 999, 1000]) {
      const found = await walk('/nodes', limit)
      assert.deepEqual(idsOf(found).toSorted(), ids)
      assertInOrder(found, byAge)
    }
  })

  test('is copied in one page, again as a 304, and later by what has changed', async () => {
    const { anonymous } = registry
    const path = '/nodes?limit=1000'
    const whole = await anonymous.get(path)
    assert.equal(nodesOf(whole).length, MANY)
    const etag = { 'if-none-match': whole.headers.get('etag') ?? '' }
    assert.equal((await anonymous.get(path, etag)).status, 304)

    const { sql } = registry.service.database
    const [now] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
    const since = now?.at.toISOString() ?? ''
    const changed = ['Pack-0001', 'Pack-0002', 'Pack-0003', 'Pack-0004', 'Pack-0005']
    const [edited, published, passed, moderated, deprecated] = changed as [string, ...string[]]
    const own = `/publishers/${owned.id}/nodes`
    expectStatus(await owned.owner.call('PUT', `${own}/${edited}`, { author: 'x' }), 200)
    await addVersion(owned, { nodeId: published ?? '' })
    await addActive(registry, owned, { nodeId: passed ?? '' })
    await setByAdmin(moderated ?? '', { github_stars: 3 })
    const id = await addActive(registry, owned, { nodeId: deprecated ?? '' })
    const version = `${own}/${deprecated}/versions/${id}`
    expectStatus(await owned.owner.call('PUT', version, { deprecated: true }), 200)
    const made = await makeNode(owned)
    const found = await walk(`/nodes?timestamp=${since}`, 2)
    assert.deepEqual(idsOf(found).toSorted(), [...changed, made].toSorted())
    assert.equal((await anonymous.get(path, etag)).status, 200)
    await owned.owner.call('DELETE', `${own}/${made}`)
  })
})

describe('what is banned', () => {
  test('is hidden when nobody asks for it, and from everybody but admins who do', async () => {
    const other = await makePublisher(registry)
    const word = unique('word').replace('-', '')
    const fields = { description: word, supported_os: [word] }
    const banned = await makeNode(other, fields)
    const shown = await makeNode(other, fields)
    await setByAdmin(banned, { status: 'NodeStatusBanned', status_detail: 'malware' })
    const lists = [
      `/nodes/search?search=${word}`,
      `/nodes?supported_os=${word}`,
      `/publishers/${other.id}/nodes?page=1`,
    ]
    const look = async (client: Client, path: string): Promise<string[]> => {
      const answer = expectStatus(await client.get(path), 200)
      const list = Array.isArray(answer.body) ? listOf<Listed>(answer) : nodesOf(answer)
      return idsOf(list).toSorted()
    }
    const { admin, anonymous } = registry
    for (const path of lists) {
      for (const client of [anonymous, other.owner, admin]) {
        assert.deepEqual(await look(client, path), [shown], path)
        const wish = await look(client, `${path}&include_banned=true`)
        assert.deepEqual(wish, client === admin ? [banned, shown].toSorted() : [shown], path)
      }
      assert.deepEqual(await look(admin, `${path}&include_banned=false`), [shown], path)
    }
  })
})

describe('a repository', () => {
  test('may be that of two nodes, and finds both in whatever spelling', async () => {
    const word = unique('repo')
    const url = `https://Git.example.com/Acme/${word}`
    const expected = [
      await makeNode(owned, { repository: `${url}.git` }),
      await makeNode(owned, { repository: url }),
      await makeNode(await makePublisher(registry), { repository: `${url.toLowerCase()}/` }),
    ].toSorted()
    for (const term of [
      word,
      url,
      url.toUpperCase(),
      `${url}.git`,
      `git+${url}.git`,
      `git.example.com/acme/${word}`,
    ]) {
      const query = `repository_url_search=${encodeURIComponent(term)}`
      const answer = await registry.anonymous.get(`/nodes/search?${query}`)
      assert.deepEqual(idsOf(nodesOf(expectStatus(answer, 200))).toSorted(), expected, term)
    }
  })
})

describe('a class name that several nodes claim', () => {
  test('is of the one that preempts it, then by ranking, downloads and id', async () => {
    const { anonymous } = registry
    const name = unique('Class')
    const claim = async (letter: string): Promise<string> => {
      const nodeId = unique(`claim-${letter}`)
      await addActive(registry, owned, { nodeId })
      const body = { nodes: { [name]: {} } }
      expectStatus(await anonymous.post(`/nodes/${nodeId}/versions/1.0.0/host-nodes`, body), 204)
      return nodeId
    }
    const find = async () => {
      const { body } = expectStatus(await anonymous.get(`/host-nodes/${name}/node`), 200)
      return String(body['id'])
    }
    const [c, b, a] = [await claim('c'), await claim('b'), await claim('a')]
    assert.equal(await find(), a)
    expectStatus(await anonymous.get(`/nodes/${c}/install`), 200)
    assert.equal(await find(), c)
    await setByAdmin(b, { search_ranking: 4 })
    assert.equal(await find(), b)
    const preempting = await makeNode(owned)
    await setByAdmin(preempting, { search_ranking: 10, preempted_host_node_names: [name] })
    assert.equal(await find(), preempting)
    await setByAdmin(preempting, { status: 'NodeStatusBanned', status_detail: 'malware' })
    assert.equal(await find(), b)
  })
})
