import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { fillCatalogue } from '../db/registry-catalogue.ts'
import { atOnce, expectStatus, listOf, pluck } from '../../support/client.ts'
import type { Client, HttpResponse } from '../../support/client.ts'
import { waitFor } from '../../support/wait.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

/** Nodes of the catalogue, fifty for each of its publishers; every 400th has the word `rareword`. */
const MANY = 1000

const registry = useRegistry({ env: { OVERRIDE_SEARCH_MAX_DEPTH: '1100' } })
const { anonymous, admin, sql, service } = registry
const owned = usePublisher(registry)
const { owner } = owned
/** All nodes that there are before the first test, in the order of their ids. */
let ids: string[]

registry.prepare(async () => {
  await fillCatalogue(service.database, { nodes: MANY })
  ids = pluck(await sql`select id from node order by id`)
})

const read = (path: string): Promise<HttpResponse> => anonymous.get(path)

interface Listed {
  id: string
  name: string
  search_ranking: number
  downloads: number
  github_stars: number
  created_at: string
}

const nodesOf = (response: HttpResponse): Listed[] =>
  listOf<Listed>(expectStatus(response, 200), 'nodes')

const find = async (query: string) => pluck(nodesOf(await read(`/nodes/search?${query}`)))

/** Reads a list of nodes page by page to its `totalPages`. */
const walk = async (path: string, limit: number): Promise<Listed[]> => {
  const nodes: Listed[] = []
  for (let page = 1, last = 1; page <= last; page += 1) {
    const mark = path.includes('?') ? '&' : '?'
    const response = await read(`${path}${mark}page=${page}&limit=${limit}`)
    nodes.push(...nodesOf(response))
    last = Number(response.body['totalPages'])
    assert.equal(last, Math.ceil(Number(response.body['total']) / limit))
  }
  return nodes
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const byRanking = (a: Listed, b: Listed): number =>
  a.search_ranking - b.search_ranking || b.downloads - a.downloads || compareTexts(a.id, b.id)

const byAge = (a: Listed, b: Listed): number =>
  compareTexts(a.created_at, b.created_at) || compareTexts(a.id, b.id)

const setByAdmin = async (nodeId: string, fields: object): Promise<void> => {
  expectStatus(await admin.put(`/admin/nodes/${nodeId}`, fields), 200)
}

describe(`a registry of ${MANY} nodes`, () => {
  test('pages all nodes of a publisher by id', async () => {
    const path = '/publishers/maker-7/nodes'
    const rows = await sql`select id from node where publisher_id = 'maker-7' order by id`
    for (const limit of [7, 33]) {
      const found: unknown[] = []
      for (let page = 1; found.length < rows.length; page += 1) {
        const response = await read(`${path}?page=${page}&limit=${limit}`)
        assert.equal(response.headers.get('x-total-count'), String(rows.length))
        found.push(...pluck(listOf(response)))
        assert.equal(found.length, Math.min(page * limit, rows.length))
      }
      assert.deepEqual(found, pluck(rows))
      assert.deepEqual(pluck(await walk(`${path}/v2`, limit)), pluck(rows))
    }
  })

  test('is searched through in one order, each node once', async () => {
    const [first = '', second = '', last = ''] = ids
    await setByAdmin(second, { search_ranking: 1 })
    await setByAdmin(first, { search_ranking: 9 })
    await sql`update node_stats set downloads = 7 where node_id = ${last}`
    for (const [query, expected] of [
      ['', ids],
      ['?search=pack', ids],
      ['?search=rareword', ids.filter((id) => /-[48]00$/.test(id))],
    ] as const)
      for (const limit of [30, 100]) {
        const found = await walk(`/nodes/search${query}`, limit)
        assert.deepEqual(pluck(found).toSorted(), expected, query)
        if (query === '') assert.deepEqual(pluck(found), pluck(found.toSorted(byRanking)))
      }
    assert.equal((await walk('/nodes/search', 100))[0]?.id, second)
  })

  test('is walked from the oldest to the newest, each node once', async () => {
    for (const limit of [30, 999, 1000]) {
      const found = await walk('/nodes?unknown=1', limit)
      assert.deepEqual(pluck(found).toSorted(), ids)
      assert.deepEqual(pluck(found), pluck(found.toSorted(byAge)))
    }
    const page = async (path: string, number: number) =>
      nodesOf(await read(`${path}page=${number}`))
    for (const path of ['/nodes?', '/nodes/search?search=pack&', '/publishers/maker-7/nodes/v2?'])
      assert.deepEqual(await page(path, 0), await page(path, 1), path)
    for (const past of [
      '/nodes?page=1000',
      '/nodes?page=2000000000&limit=1000',
      '/nodes?page=2000000000&include_removed=true',
    ])
      assert.deepEqual(nodesOf(await read(past)), [])
  })

  test('is listed in the order that is asked for, and rejects any other', async () => {
    const compare = (a: string | number, b: string | number) => (a < b ? -1 : Number(a > b))
    for (const by of ['name', 'created_at', 'downloads', 'search_ranking', 'github_stars'] as const)
      for (const filter of [
        '',
        '&supported_os=Plan%209',
        `&node_id=${ids.slice(0, 40).join('&node_id=')}`,
      ]) {
        const up = await walk(`/nodes?sort=${by}${filter}`, 300)
        const down = await walk(`/nodes?sort=${by};desc${filter}`, 300)
        assert.ok(up.length >= 20, String(up.length))
        assert.deepEqual(pluck(down), pluck(up).toReversed(), by)
        const keys = up.map(
          ({ id, [by]: key }) => [typeof key === 'string' ? key.toLowerCase() : key, id] as const,
        )
        assert.deepEqual(
          keys.map(([key]) => key),
          keys.map(([key]) => key).toSorted(compare),
          by,
        )
      }
    assert.deepEqual(await read('/nodes?sort='), await read('/nodes?sort=created_at'))
    for (const bad of ['stars', 'name;asc', 'Name', 'name&sort=downloads']) {
      const rejected = expectStatus(await read(`/nodes?sort=${bad}`), 400, 'validation_failed')
      assert.match(
        rejected.body.details?.[0] ?? '',
        /^\?sort must be (one of name, name;desc, .*, got "|given once)/,
      )
    }
  })

  test('is copied in one page, again as a 304, and later by what has changed', async () => {
    const path = '/nodes?limit=1000'
    const whole = await read(path)
    assert.equal(nodesOf(whole).length, MANY)
    const etag = { 'if-none-match': whole.headers.get('etag') ?? '' }
    assert.equal((await anonymous.get(path, etag)).status, 304)
    const changed = await atOnce(5, () => owned.addNode())
    const [edited, published, passed, moderated = '', deprecated] = changed

    const [now] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
    const { path: own } = owned
    expectStatus(await owner.put(`${own}/nodes/${edited}`, { author: 'x' }), 200)
    await owned.addVersion({ nodeId: published ?? '' })
    await owned.addActive({ nodeId: passed ?? '' })
    await setByAdmin(moderated, { github_stars: 3 })
    const { ownVersion } = await owned.addActive({ nodeId: deprecated ?? '' })
    expectStatus(await owner.put(ownVersion, { deprecated: true }), 200)
    const made = await owned.addNode()
    const found = await walk(`/nodes?timestamp=${now?.at.toISOString()}`, 2)
    assert.deepEqual(pluck(found).toSorted(), [...changed, made].toSorted())
    assert.equal((await anonymous.get(path, etag)).status, 200)
  })

  test('has nothing that changed after now, and takes every time that is one', async () => {
    const at = (time: string) => read(`/nodes?timestamp=${time}`)
    assert.deepEqual(nodesOf(await at('2999-01-01T00:00:00Z')), [])
    for (const odd of ['2016-12-31T23:59:60Z', '0000-01-01T00:00:00Z'])
      expectStatus(await at(odd), 200)
    for (const bad of ['soon', '2026-02-30T00:00:00Z'])
      expectStatus(await at(bad), 400, 'validation_failed')
  })

  test('is not searched deeper than it may be', async () => {
    const rejected = expectStatus(await read('/nodes/search?page=111'), 400, 'validation_failed')
    assert.equal(
      rejected.body.message,
      '?page must be such that page × limit is at most 1100, got 111 × 10; GET /nodes has no such limit',
    )
    const versions = await read('/versions?page=12&pageSize=100')
    const { message } = expectStatus(versions, 400, 'validation_failed').body
    assert.match(message ?? '', /page × pageSize is at most 1100, got 12 × 100$/)
    for (const path of ['/nodes/search?page=110', '/versions?page=11&pageSize=100'])
      expectStatus(await read(path), 200)
  })
})

describe('a search', () => {
  test('takes patterns for plain text, and lists by repeated names', async () => {
    const word = unique('word').replace('-', '')
    const one = await owned.addNode({ description: `${word} 100%`, supported_os: ['OS, X'] })
    const two = await owned.addNode({
      name: `${word} two`,
      repository: `https://x.org/${word}.git`,
      supported_os: ['Linux'],
    })
    assert.deepEqual(await find(`search=${word}`), [two, one])
    assert.deepEqual(await find(`search=${word}&supported_os=os,%20x&supported_os=y`), [one])
    assert.deepEqual(await find(`search=${word}&supported_os=`), [two, one])
    assert.deepEqual(await find(`repository_url_search=X.org/${word}`), [two])
    assert.deepEqual(await find(`search=${word}%25`), [])
    for (const odd of ['%25', '%5C', "'", '_']) await find(`search=${odd}`)
  })

  test('a search is sorted, and returned with the names and facets that it found', async () => {
    const word = unique('word').replace('-', '')
    const make = async (name: string, more: object) => {
      const { nodeId, version } = await owned.addActive({
        node: { name, description: word, ...more },
      })
      const nodes = { [`${word}Cut`]: {}, [`A ${word}`]: {}, other: {} }
      expectStatus(await owned.owner.post(`${version}/host-nodes`, { nodes }), 204)
      return nodeId
    }
    const b = await make('b', { tags: ['Blur', word], supported_os: ['Linux'] })
    const a = await make('A', { tags: [word], supported_os: ['linux', 'Windows'] })
    assert.deepEqual(await find(`search=${word}&sort=name`), [a, b])
    assert.deepEqual(await find(`search=${word}&sort=created_at`), [b, a])
    assert.deepEqual(await find(`host_node_search=${word}&sort=name;desc`), [b, a])
    assert.deepEqual(await find(`search=${word}&tag=BLUR&tag=none`), [b])
    const names = [`${word}Cut`, `A ${word}`]
    const matched = await read(`/nodes/search?host_node_search=${word.toUpperCase()}`)
    assert.deepEqual(matched.body['matched_host_nodes'], { [a]: names, [b]: names })
    const { body } = await read(
      `/nodes/search?search=${word}&supported_os=windows&facets=true&limit=1`,
    )
    assert.deepEqual(body['facets'], {
      tag: [{ value: word, count: 1 }],
      os: [
        { value: 'linux', count: 2 },
        { value: 'windows', count: 1 },
      ],
      accelerator: [],
      license: [],
    })
    assert.equal((await read(`/nodes/search?search=${word}`)).body['facets'], undefined)
    for (const bad of ['sort=stars', 'facets=maybe', `tag=${'x'.repeat(101)}`]) {
      const rejected = expectStatus(await read(`/nodes/search?${bad}`), 400, 'validation_failed')
      assert.ok(rejected.body.details?.[0]?.startsWith(`?${bad.split('=')[0]}`), bad)
    }
  })

  test('that finds nothing names up to three nodes that are meant, and none that is not shown', async () => {
    const meant = async (query: string) => {
      const { body } = expectStatus(await read(`/nodes/search?${query}`), 200)
      return body['did_you_mean'] as { id: string; name: string }[] | undefined
    }
    assert.equal(await meant('search=zqwrelit'), undefined)
    const id = `zqwrelight-${unique('x').slice(0, 6)}`
    await owned.addNode({ id, name: 'Evening Sun', supported_os: ['Linux'] })
    const found = [{ id, name: 'Evening Sun' }]
    assert.deepEqual(await meant('search=ZQWRELIHGT'), found)
    assert.deepEqual(await meant('search=zqwreligt&supported_os=linux'), found)
    assert.equal(await meant('search=zqwreligt&supported_os=windows'), undefined)
    assert.equal(await meant('search=zqwrelight'), undefined)
    assert.deepEqual((await meant('search=evenign%20sun'))?.[0], found[0])
    // Of a catalogue with a thousand, those that are most like it.
    const many = (await meant('search=stduio')) ?? []
    assert.equal(many.length, 3)
    for (const node of many) assert.match(node.name, /studio/i)
    for (const odd of ['%25%25%25', '%5C', "'''", 'a', '%20', 'x'.repeat(200)])
      await meant(`search=${odd}`)
    const ban = { status: 'NodeStatusBanned', status_detail: 'spam' }
    expectStatus(await admin.put(`/admin/nodes/${id}`, ban), 200)
    assert.equal(await meant('search=zqwreligt'), undefined)
  })

  test('finds both nodes of one repository, in whatever spelling', async () => {
    const word = unique('repo')
    const url = `https://Git.example.com/Acme/${word}`
    const other = await registry.addPublisher()
    const expected = [
      await owned.addNode({ repository: `${url}.git` }),
      await other.addNode({ repository: `${url.toLowerCase()}/` }),
    ].toSorted()
    for (const term of [word, url, url.toUpperCase(), `git+${url}.git`]) {
      const found = await find(`repository_url_search=${encodeURIComponent(term)}`)
      assert.deepEqual(found.toSorted(), expected, term)
    }
  })
})

test('what is banned is hidden when nobody asks for it, and from everybody but admins who do', async () => {
  const other = await registry.addPublisher()
  const word = unique('word').replace('-', '')
  const fields = { description: word }
  const banned = await other.addNode(fields)
  const shown = await other.addNode(fields)
  await setByAdmin(banned, { status: 'NodeStatusBanned', status_detail: 'malware' })
  const poll = async (client: Client, path: string) => {
    const response = expectStatus(await client.get(path), 200)
    return pluck(Array.isArray(response.body) ? listOf(response) : nodesOf(response)).toSorted()
  }
  for (const path of [
    `/nodes/search?search=${word}`,
    `/nodes?node_id=${banned}&node_id=${shown}`,
    `${other.path}/nodes?page=1`,
  ]) {
    // Whoever owns it sees it in the own list.
    const isOwn = path.startsWith(other.path)
    for (const client of [anonymous, owner, other.owner, admin]) {
      const seesAll = isOwn && client === other.owner
      const all = [banned, shown].toSorted()
      assert.deepEqual(await poll(client, path), seesAll ? all : [shown], path)
      const wish = await poll(client, `${path}&include_banned=true`)
      assert.deepEqual(wish, seesAll || client === admin ? all : [shown], path)
    }
    assert.deepEqual(await poll(admin, `${path}&include_banned=false`), [shown], path)
  }
  const own = listOf(await other.owner.get(`${other.path}/nodes`)).find(({ id }) => id === banned)
  assert.deepEqual([own?.['status'], own?.['status_detail']], ['NodeStatusBanned', 'malware'])
})

test('what has left the list is shown to who keeps a copy, and later comes back', async () => {
  const [one, two] = [await registry.addPublisher(), await registry.addPublisher()]
  const addNode = () => one.addNode({ description: 'a secret' })
  // One after the other: the list is in the order they were made.
  const [kept, banned, deleted] = [await addNode(), await addNode(), await addNode()]
  const hidden = await two.addNode()
  const { next_timestamp: since } = (await read('/nodes?include_removed=true&limit=1')).body
  const path = `/nodes?include_removed=true&timestamp=${String(since)}`
  const entriesOf = async (query = '', client = anonymous) => {
    const { body, headers } = expectStatus(await client.get(path + query), 200)
    assert.equal(headers.get('cache-control'), 'private, no-cache')
    assert.ok(String(body['next_timestamp']) >= String(since))
    return body['nodes'] as unknown as (Listed & { status: string; status_detail?: string })[]
  }
  await setByAdmin(banned ?? '', { status: 'NodeStatusBanned', status_detail: 'malware' })
  expectStatus(await one.owner.delete(`${one.path}/nodes/${deleted}`), 204)
  expectStatus(await admin.post(`/admin${two.path}/ban`, { reason: 'for members' }), 200)
  const removed = [
    { id: banned, status: 'NodeStatusBanned', status_detail: 'malware' },
    { id: deleted, status: 'NodeStatusDeleted' },
    { id: hidden, status: 'NodeStatusBanned', status_detail: 'Its publisher is banned.' },
  ]
  const isRemoved = (entry: object) => !('publisher' in entry)
  // A platform admin sees banned nodes whole, before others or after them.
  const seen = await entriesOf('&include_banned=true', admin)
  assert.deepEqual(pluck(seen.filter(isRemoved)), [deleted])
  assert.deepEqual(pluck(await entriesOf()), pluck(removed))
  expectStatus(await one.owner.put(one.path, { name: 'Another' }), 200)
  for (const limit of [10, 1000]) {
    const entries = await entriesOf(`&limit=${limit}`)
    assert.deepEqual(entries.filter(isRemoved), removed)
    assert.deepEqual(pluck(entries.filter((entry) => !isRemoved(entry))), [kept])
  }
  const changed = await read(`/nodes?timestamp=${String(since)}`)
  assert.deepEqual(pluck(nodesOf(changed)), [kept])
  assert.equal(changed.body['next_timestamp'], undefined)
  assert.match(changed.headers.get('cache-control') ?? '', /^public/)

  expectStatus(await admin.post(`/admin${two.path}/unban`, {}), 200)
  assert.deepEqual(pluck((await entriesOf()).filter(isRemoved)), [banned, deleted])
  const rejected = await read(`${path}&sort=name&supported_os=Linux`)
  const { details } = expectStatus(rejected, 400, 'validation_failed').body
  assert.deepEqual(
    details?.map((issue) => issue.split(' ')[0]),
    ['?sort', '?supported_os'],
  )
})

test('a status narrows nodes and publishers for platform admins, and is ignored of anybody else', async () => {
  const other = await registry.addPublisher()
  const banned = await other.addNode()
  const shown = await other.addNode()
  await setByAdmin(banned, { status: 'NodeStatusBanned', status_detail: 'malware' })
  expectStatus(await admin.post(`/admin${other.path}/ban`, { reason: 'spam' }), 200)
  const nodes = (status: string) => `/nodes?node_id=${banned}&node_id=${shown}&status=${status}`
  for (const [status, found] of [
    ['NodeStatusBanned', [banned]],
    ['NodeStatusActive', [shown]],
  ] as const) {
    assert.deepEqual(pluck(nodesOf(await admin.get(nodes(status)))), found)
    assert.deepEqual(nodesOf(await anonymous.get(nodes(status))), [])
  }
  const all = nodesOf(await admin.get('/nodes?status=NodeStatusBanned&limit=1000'))
  assert.ok(pluck(all).includes(banned) && !pluck(all).includes(shown))
  const publishers = async (client: Client, status = 'PublisherStatusBanned') =>
    pluck(listOf(expectStatus(await client.get(`/publishers?status=${status}`), 200)))
  assert.ok((await publishers(admin)).includes(other.id))
  assert.ok(!(await publishers(admin)).includes(owned.id))
  assert.ok(!(await publishers(admin, 'PublisherStatusActive')).includes(other.id))
  for (const client of [anonymous, owner]) assert.ok(!(await publishers(client)).includes(other.id))
  for (const path of ['/nodes', '/publishers']) {
    const rejected = await admin.get(`${path}?status=NodeStatusDeleted`)
    const { details } = expectStatus(rejected, 400, 'validation_failed').body
    assert.match(details?.[0] ?? '', /^\?status must be one of/)
  }
})

test('a class name that several nodes claim is of the one that preempts it, then by ranking and the oldest active claim', async () => {
  const name = unique('Class')
  const claim = async (letter: string, version: string, nodeId = unique(`claim-${letter}`)) => {
    const added = await owned.addActive({ nodeId, version })
    const nodes = { nodes: { [name]: {} } }
    expectStatus(await owned.owner.post(`${added.version}/host-nodes`, nodes), 204)
    return added
  }
  const owners = async (asked = name) => {
    const { body } = await read(`/host-nodes/${asked}/node`)
    return [body['id'], ...((body['other_node_ids'] as unknown as string[] | undefined) ?? [])]
  }
  const oldC = await claim('c', '1.0.0')
  const c = oldC.nodeId
  const { nodeId: b } = await claim('b', '1.0.0')
  const { nodeId: a } = await claim('a', '1.0.0')
  await claim('c', '2.0.0', c)
  assert.deepEqual(await owners(), [c, b, a])
  assert.deepEqual(await owners(name.toLowerCase()), [undefined])
  // Anybody can install.
  expectStatus(await read(`/nodes/${a}/install`), 200)
  assert.deepEqual(await owners(), [c, b, a])
  expectStatus(await owner.delete(oldC.ownVersion), 204)
  assert.deepEqual(await owners(), [b, a, c])
  await setByAdmin(c, { search_ranking: 4 })
  assert.deepEqual(await owners(), [c, b, a])
  const preempting = unique('preempting')
  await claim('d', '1.0.0', preempting)
  await setByAdmin(preempting, { search_ranking: 10, preempted_host_node_names: [name] })
  assert.deepEqual(await owners(), [preempting, c, b, a])
  const preempt = { search_ranking: 9, preempted_host_node_names: [name] }
  const rejected = await admin.put(`/admin/nodes/${a}`, preempt)
  const { message } = expectStatus(rejected, 409, 'host_node_preempted').body
  assert.ok(message?.includes(preempting) && message.includes('"force": true'), message)
  await setByAdmin(a, { ...preempt, force: true })
  // What it has already is not asked for again.
  await setByAdmin(a, preempt)
  assert.deepEqual(await owners(), [a, preempting, c, b])
  await setByAdmin(a, { status: 'NodeStatusBanned', status_detail: 'malware' })
  assert.deepEqual(await owners(), [preempting, c, b])
  // A name that the latest version does not have leads nowhere.
  await owned.addActive({ nodeId: preempting, version: '2.0.0' })
  assert.deepEqual(await owners(), [c, b])
})

describe('a list of versions', () => {
  test('takes its statuses by repeated names', async () => {
    const { nodeId, node } = await owned.addActive()
    await owned.addVersion({ nodeId, version: '2.0.0' })
    const list = (query: string) => read(`${node}/versions?${query}`)
    const numbersOf = async (query: string) => pluck(listOf(await list(query)), 'version')
    const both = 'statuses=NodeVersionStatusActive&statuses=NodeVersionStatusPending'
    assert.deepEqual(await numbersOf(both), ['2.0.0', '1.0.0'])
    assert.deepEqual(await numbersOf('statuses=NodeVersionStatusActive'), ['1.0.0'])
    assert.deepEqual(await numbersOf('statuses[]=x'), ['2.0.0', '1.0.0'])
    const { ownVersion: deleted } = await owned.addVersion({ nodeId, version: '3.0.0' })
    expectStatus(await owner.delete(deleted), 204)
    assert.deepEqual(await numbersOf(''), ['2.0.0', '1.0.0'])
    assert.deepEqual(await numbersOf('statuses=NodeVersionStatusDeleted'), ['3.0.0'])
    for (const bad of ['Active', 'NodeVersionStatusActive,NodeVersionStatusPending'])
      expectStatus(await list(`statuses=${bad}`), 400, 'validation_failed')
  })

  test('of all nodes is narrowed by node, status and reason', async () => {
    const { nodeId } = await owned.addActive()
    await owned.addVersion({ nodeId, version: '2.0.0' })
    const list = async (query: string) => {
      const response = expectStatus(await read(`/versions?${query}`), 200)
      return [response.body['total'], pluck(listOf(response, 'versions'), 'version')]
    }
    assert.deepEqual(await list(`nodeId=${nodeId.toUpperCase()}`), [2, ['2.0.0', '1.0.0']])
    assert.deepEqual(await list(`nodeId=${nodeId}&status_reason=PASSED`), [1, ['1.0.0']])
    assert.deepEqual(await list(`nodeId=${nodeId}&review_requested=true`), [2, ['2.0.0', '1.0.0']])
  })
})

test('requested reviews are listed for platform admins, the oldest first, with what a decision needs', async () => {
  const { nodeId } = await owned.addActive({ version: '1.9.0' })
  await owned.addActive({ nodeId, version: '1.10.0-rc.1' })
  await owned.addActive({ nodeId, version: '1.10.0' })
  const next = await owned.addFlagged({ nodeId, version: '1.10.1' })
  const first = await owned.addFlagged({ nodeId, version: '1.10.0-rc.2' })
  const lone = await owned.addFlagged({ version: '1.0.0' })
  for (const { ownVersion } of [lone, next, first])
    expectStatus(await owner.post(`${ownVersion}/review`, { note: ownVersion }), 201)
  const list = async (client: Client, query: string) =>
    listOf(expectStatus(await client.get(`/versions?${query}`), 200), 'versions')
  const found = await list(admin, 'sort=review')
  const asked = [lone, next, first]
  assert.deepEqual(pluck(found), pluck(asked))
  assert.deepEqual(
    found.map(({ moderation }) => {
      const { review, ...rest } = moderation as Record<string, { note: string }>
      return [rest, review?.note]
    }),
    [undefined, '1.10.0', '1.10.0-rc.1'].map((previous, at) => [
      {
        publisher: { id: owned.id, name: owned.id, status: 'PublisherStatusActive' },
        findings: { high: 0, medium: 0, info: 0 },
        ...(previous !== undefined && { previous_version: previous }),
      },
      asked[at]?.ownVersion,
    ]),
  )
  assert.deepEqual(pluck(await list(admin, 'sort=review&page=2&pageSize=2')), [first.id])
  const newest = await list(admin, `nodeId=${nodeId}&review_requested=false`)
  assert.deepEqual(pluck(newest, 'version'), ['1.10.0', '1.10.0-rc.1', '1.9.0'])
  assert.ok(newest.every(({ moderation }) => moderation !== undefined))
  for (const client of [anonymous, owner]) {
    const others = await list(client, `nodeId=${nodeId}&sort=review&review_requested=false`)
    assert.equal(others.length, 5)
    assert.ok(others.every(({ moderation }) => moderation === undefined))
  }
  for (const query of ['sort=review&review_requested=false', 'sort=age']) {
    const rejected = await admin.get(`/versions?${query}`)
    const { details } = expectStatus(rejected, 400, 'validation_failed').body
    assert.match(details?.[0] ?? '', /^\?sort must/)
  }
})

describe('a list whose entries are large', () => {
  const license = '\u0001'.repeat(65_536)
  const given = {
    changelog: 'é'.repeat(65_536),
    dependencies: Array.from({ length: 500 }, () => 'd'.repeat(512)),
  }
  const COUNT = 6
  const nodeId = unique('large')
  const many = unique('many')
  before(async () => {
    for (let at = 0; at < COUNT; at += 1) {
      await owned.addActive({ nodeId, version: `${at}.0.0`, given })
      await owned.addActive({ nodeId: `${many}-${at}`, node: { license }, given })
    }
  })

  const LISTS: [path: string, member: string | undefined, longest: string][] = [
    [`/nodes/${nodeId}/versions`, undefined, 'changelog'],
    [`/versions?nodeId=${nodeId}&pageSize=100`, 'versions', 'changelog'],
    [`/nodes/search?search=${many}&limit=100`, 'nodes', 'license'],
    [
      `/nodes?${[...Array(COUNT).keys()].map((at) => `node_id=${many}-${at}`).join('&')}&limit=1000`,
      'nodes',
      'license',
    ],
  ]
  for (const [path, member, longest] of LISTS)
    test(`has all of them, and is written in parts: ${path.slice(0, 20)}`, async () => {
      const whole = await read(path)
      const entries = listOf(expectStatus(whole, 200), member)
      assert.equal(new Set(pluck(entries)).size, COUNT)
      for (const entry of entries) assert.ok(String(entry[longest]).length === 65_536, longest)
      assert.equal(whole.headers.get('transfer-encoding'), 'chunked')
      const etag = whole.headers.get('etag') ?? ''
      const again = await anonymous.get(path, { 'if-none-match': etag })
      assert.equal(again.status, 304)
      const head = await anonymous.call('HEAD', path)
      assert.deepEqual([head.status, head.body], [200, undefined])
    })

  test('large lists are read a few at once, so that other requests get a response meanwhile', async () => {
    const path = `/versions?nodeId=${many}-0&pageSize=1`
    const rejected: HttpResponse[] = []
    const reads = await sql.begin(async (sql) => {
      await sql`lock table version`
      const reads = Array.from({ length: 40 }, async () => {
        const response = await read(path)
        if (response.status !== 200) rejected.push(response)
        return response
      })
      expectStatus(await read('/publishers/validate?username=free'), 200)
      await waitFor('the others are rejected', async () => rejected.length === 36)
      return { all: Promise.all(reads) }
    })
    for (const response of rejected) expectStatus(response, 503, 'busy')
    const done = (await reads.all).filter(({ status }) => status === 200)
    assert.equal(done.length, 4)
  })
})
