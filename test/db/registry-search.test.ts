import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import fc from 'fast-check'

import type { Queryable } from '../../src/db/client.ts'
import { makeCountCache, recordListChange } from '../../src/db/search/listed-count.ts'
import { listNodes } from '../../src/db/search/node-list.ts'
import { countDownload } from '../../src/db/registry/download.ts'
import { updateNodeByAdmin } from '../../src/db/registry/node-transition.ts'
import { nodePageQuery } from '../../src/db/search/node-page.ts'
import { CLASSES } from '../../src/db/search/node-filter.ts'
import type { NodeFilter } from '../../src/db/search/node-filter.ts'
import { insertNodeRow, setNodeFields, updateNode } from '../../src/db/registry/node.ts'
import type { PagePlan } from '../../src/db/search/page-plan.ts'
import { transitionPublisher } from '../../src/db/registry/publisher-ban.ts'
import { countFacets, findMatchedHostNodes } from '../../src/db/search/facets.ts'
import { searchNodes } from '../../src/db/search/node-page.ts'
import type { NodeSearch } from '../../src/db/search/node-page.ts'
import { listVersions } from '../../src/db/search/version-list.ts'
import type { VersionFilter } from '../../src/db/search/version-statements.ts'
import { transitionVersion } from '../../src/db/registry/version-transition.ts'
import type { Node } from '../../src/domain/registry/node.ts'
import { ROOT } from '../../src/local/root.ts'
import { createDatabase } from '../support/stack.ts'
import type { TestDatabase } from '../support/stack.ts'
import { fillCatalogue } from './registry-catalogue.ts'
import { AUDIT, parseEntries, readCounts } from './registry-place.ts'

const NODES = 1_000

let database: TestDatabase
const options = { publicUrl: 'http://kiln.test', cache: makeCountCache() }
before(async () => {
  database = await createDatabase()
  await fillCatalogue(database, { nodes: NODES })
})
after(() => database.drop())

const parse = async (found: ReturnType<typeof searchNodes>) => {
  const { nodes, total } = await found
  return { nodes: parseEntries<Node>(nodes), total }
}
const search = (given: Partial<NodeSearch>) =>
  parse(searchNodes(database.sql, { page: 1, limit: 10, ...given }, options))
const list = (given: object = {}) =>
  parse(listNodes(database.sql, { page: 1, limit: 1_000, ...given }, options))

/** Reads all pages of a list, and the totals that they gave. */
const walk = async (
  read: (page: number) => Promise<{ nodes: Node[]; total: number }>,
): Promise<{ nodes: Node[]; totals: Set<number> }> => {
  const nodes: Node[] = []
  const totals = new Set<number>()
  for (let page = 1; ; page += 1) {
    const found = await read(page)
    totals.add(found.total)
    if (found.nodes.length === 0) return { nodes, totals }
    nodes.push(...found.nodes)
  }
}

/** The class of a node by the words of the rule, without an index. */
const classOf = (node: Node, term: string): number => {
  const text = term.toLowerCase()
  const names = [node.id, node.name].map((name) => name.toLowerCase())
  // A word of marks alone is looked for as it is.
  const asked = text.split(/\s+/).flatMap((whole) => {
    const pieces = whole.split(/[-_./]+/).filter((piece) => piece !== '')
    return pieces.length > 0 ? pieces : [whole]
  })
  const starts = (...texts: string[]) =>
    asked.every((word) => wordsOf(texts.join(' ')).some((other) => other.startsWith(word)))
  if (names.includes(text)) return 5
  if (names.some((name) => name.startsWith(text))) return 4
  if ((text.length >= 3 && names.some((name) => name.includes(text))) || starts(node.id, node.name))
    return 3
  const near = [node.id, node.name, ...node.tags, node.author ?? '']
  if (starts(...near)) return 2
  return starts(...near, node.description) ? 1 : 0
}

const wordsOf = (text: string): string[] =>
  [text, text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')]
    .flatMap((one) => [
      ...one.split(/\s+/),
      ...one.split(/[\s\-_./]+/),
      ...one.split(/[^A-Za-z0-9]+/),
    ])
    .map((word) => word.toLowerCase())

const idsOf = (nodes: readonly Node[]): string[] => nodes.map(({ id }) => id).toSorted()

const compare = (a: Node, b: Node): number =>
  a.search_ranking - b.search_ranking || b.downloads - a.downloads || (a.id < b.id ? -1 : 1)

describe('a search', () => {
  let all: Node[]
  before(async () => {
    all = (await list()).nodes
  })

  const TERMS = [
    'studio',
    'STUDIO',
    'ComfyUI-pack-8',
    'studio-pack-1',
    'image',
    'ui',
    'u',
    'tool',
    'studio tools',
    'ann studio',
    'mixer',
    'geMix',
    'pack 77',
    'rareword',
    'makes sound',
    '100%',
    '0%',
    '_',
    'o_k',
    'no such word',
    "it's",
    '\\',
    'a & b | c:*',
    '(',
  ]
  for (const term of TERMS)
    test(`for ${JSON.stringify(term)} finds what the rule says, in its order, each once`, async () => {
      const expected = all
        .map((node) => ({ node, relevance: classOf(node, term) }))
        .filter(({ relevance }) => relevance > 0)
        .toSorted((a, b) => b.relevance - a.relevance || compare(a.node, b.node))
        .map(({ node }) => node.id)
      const { nodes, totals } = await walk((page) => search({ search: term, page, limit: 100 }))
      assert.deepEqual(
        nodes.map(({ id }) => id),
        expected,
      )
      assert.deepEqual([...totals], [expected.length])
    })

  test('reads the same page whatever the plan', async () => {
    const read = async (plan: PagePlan) => {
      const parts = CLASSES.map((key) => ({ key, offset: 0, limit: 50, plan }))
      const filter = { term: 'studio', os: ['linux'], hostNode: 'node', repository: 'maker' }
      const query = nodePageQuery(
        database.sql,
        { filter, order: 'relevance' },
        parts,
        options.publicUrl,
      )
      const rows = await database.sql<{ id: string }[]>`${query}`
      return rows.map(({ id }) => id)
    }
    const gathered = await read('gather')
    assert.ok(gathered.length > 50, String(gathered.length))
    assert.deepEqual(await read('walk'), gathered)
    assert.deepEqual(await read('pick'), gathered)
  })

  test('reads the same nodes as the statements that docs/search.md shows', async () => {
    const page = await readFile(join(ROOT, 'docs/search.md'), 'utf8')
    const [walk = '', gather = ''] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(
      ([, text = '']) => text,
    )
    const read = async (statement: string, term: string) => {
      const text = statement.replaceAll(":'term'", `'${term}'`)
      return (await database.sql.unsafe<{ node_id: string }[]>(text)).map((row) => row.node_id)
    }
    let walked = 0
    for (const term of ['studio', 'image', 'tool', 'mixer', 'makes', 'sound', 'rareword']) {
      const { nodes } = await search({ search: term })
      assert.deepEqual(
        await read(gather, term),
        nodes.map(({ id }) => id),
        term,
      )
      const last = all.filter((node) => classOf(node, term) === 1).toSorted(compare)
      assert.deepEqual(
        await read(walk, term),
        last.slice(0, 10).map(({ id }) => id),
        term,
      )
      walked += last.length
    }
    assert.ok(walked > 10, String(walked))
  })

  test('holds every filter that is given', async () => {
    const check = async (given: Partial<NodeSearch>, holds: (node: Node) => boolean) => {
      const { nodes } = await walk((page) => search({ ...given, page, limit: 100 }))
      const expected = all.filter(holds).toSorted(compare)
      assert.ok(expected.length > 0, JSON.stringify(given))
      assert.deepEqual(
        nodes.map(({ id }) => id),
        expected.map(({ id }) => id),
      )
    }
    await check({ supported_os: ['plan 9'] }, ({ supported_os: [os] }) => os === 'Plan 9')
    await check({ supported_os: ['none', 'LINUX'] }, ({ supported_os: [os] }) => os === 'Linux')
    await check(
      { supported_os: ['linux'], supported_accelerator: ['directml'] },
      ({ supported_os: [os], supported_accelerators: [one] }) =>
        os === 'Linux' && one === 'DirectML',
    )
    await check(
      { host_node_search: 'NODE studio' },
      ({ id }) => id.startsWith('studio') && id.length % 2 === 0,
    )
    const isPart =
      (part: string) =>
      ({ repository = '' }: Node) =>
        repository.toLowerCase().includes(part)
    for (const text of [
      'https://github.com/maker7/pack7.git',
      'GITHUB.com/Maker7/Pack7/',
      'ssh://git@github.com/Maker7/Pack7.git',
      'MAKER7/pack7',
    ])
      await check({ repository_url_search: text }, isPart('maker7/pack7'))
    await check({ repository_url_search: 'maker7/pack7.' }, isPart('maker7/pack7.'))
    await check({ repository_url_search: 'maker7/' }, ({ repository: url = '' }) =>
      /Maker7\//.test(url),
    )
    assert.equal((await search({ repository_url_search: 'maker_' })).total, 0)
    await check({ tag: ['none', 'IMAGE'] }, ({ tags }) => tags.includes('image'))
  })

  for (const given of [
    { search: 'studio' },
    { search: 'rareword' },
    { host_node_search: 'node my' },
    {},
  ])
    test(`comes in the order that is asked for: ${JSON.stringify(given)}`, async () => {
      const { nodes: found } = await walk((page) => search({ ...given, page, limit: 100 }))
      for (const by of ['name', 'created_at', 'downloads', 'search_ranking'] as const)
        for (const sort of [by, `${by};desc`] as const) {
          const { nodes, totals } = await walk((page) =>
            search({ ...given, sort, page, limit: 70 }),
          )
          const isDown = sort !== by
          const keyOf = ({ [by]: key }: Node) => (typeof key === 'string' ? key.toLowerCase() : key)
          const expected = found.toSorted((a, b) => {
            const [low, high] = isDown ? [keyOf(b), keyOf(a)] : [keyOf(a), keyOf(b)]
            return low < high ? -1 : Number(low > high)
          })
          assert.deepEqual(nodes.map(keyOf), expected.map(keyOf), sort)
          assert.deepEqual(idsOf(nodes), idsOf(found))
          assert.deepEqual([...totals], [found.length])
        }
    })

  test('counts the values of each facet, without its own filter', async () => {
    const count = (nodes: readonly Node[], valuesOf: (node: Node) => readonly string[]) => {
      const counts = new Map<string, number>()
      for (const node of nodes)
        for (const value of new Set(valuesOf(node).map((one) => one.toLowerCase())))
          counts.set(value, (counts.get(value) ?? 0) + 1)
      return [...counts]
        .map(([value, count]) => ({ value, count }))
        .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    }
    const holds = {
      term: (node: Node) => classOf(node, 'studio') > 0,
      os: ({ supported_os: [os] }: Node) => os === 'Linux',
      tag: ({ tags }: Node) => tags.includes('image'),
    }
    const read = (given: NodeFilter) => countFacets(database.sql, given, makeCountCache())
    const found = await read({ term: 'studio', os: ['LINUX'], tags: ['image'] })
    const termed = all.filter(holds.term)
    const both = termed.filter((node) => holds.os(node) && holds.tag(node))
    assert.ok(both.length > 10)
    assert.deepEqual(found, {
      tag: count(termed.filter(holds.os), ({ tags }) => tags),
      os: count(termed.filter(holds.tag), (node) => node.supported_os),
      accelerator: count(both, (node) => node.supported_accelerators),
    })
    const { os } = await read({ hostNode: 'host node' })
    assert.deepEqual(
      os,
      count(
        all.filter(({ id }) => id.length % 2 === 0),
        (node) => node.supported_os,
      ),
    )
    const whole = await read({})
    assert.deepEqual(
      whole.tag,
      count(all, ({ tags }) => tags),
    )
  })

  test('a search for host nodes returns the names that it has found', async () => {
    await database.sql`
      insert into current_host_node (node_id, name)
      select 'my-pack-2', name from unnest(array['Cut B', 'A cut', 'cut a', 'Uncut', 'Other']) name
    `
    const ids = ['my-pack-2', 'the-pack-3']
    const found = await findMatchedHostNodes(database.sql, ids, 'CUT')
    assert.deepEqual(found, { 'my-pack-2': ['Cut B', 'cut a', 'A cut'], 'the-pack-3': [] })
    await database.sql`delete from current_host_node where node_id = 'my-pack-2' and name <> 'Host Node my-pack-2'`
  })
})

describe('a word of a text or of a search', () => {
  const TEXTS: [text: string, words: string[]][] = [
    ['', []],
    ['Image tools', ['image', 'tools']],
    [
      'KSampler-Advanced_v2',
      ['ksampler-advanced_v2', 'ksampler', 'advanced', 'v2', 'k', 'sampler'],
    ],
    ['XMLParser', ['xmlparser', 'xml', 'parser']],
    ['foo.bar/baz', ['foo.bar/baz', 'foo', 'bar', 'baz']],
    ['(beta), 100%', ['(beta),', '100%', 'beta', '100']],
    ['ÄpfelBirne 画像', ['äpfelbirne', '画像', 'äpfel', 'birne']],
    ['a'.repeat(300), ['a'.repeat(200)]],
  ]
  for (const [text, words] of TEXTS)
    test(`is cut at blanks, marks and changes of case: ${text.slice(0, 30)}`, async () => {
      const [row] = await database.sql<{ words: string[] }[]>`select search_words(${text}) as words`
      assert.deepEqual([...new Set(row?.words)].toSorted(), words.toSorted())
    })

  const TERMS: [term: string, words: string[]][] = [
    ['  Image  TOOLS', ['image', 'tools']],
    ['KSampler', ['ksampler']],
    ['foo-bar', ['foo', 'bar']],
    ['_', ['_']],
    ['100% %', ['100%', '%']],
  ]
  for (const [term, words] of TERMS)
    test(`is looked for by its beginning: ${term}`, async () => {
      const [row] = await database.sql`select search_query(${term}, 'a')::text as query`
      assert.equal(row?.['query'], words.map((word) => `'a${word}':*`).join(' & '))
    })

  test('is found in the text that it was taken from', async () => {
    const texts = fc
      .sample(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })), 500)
      .filter((text) => text.trim() !== '')
    const lost = await database.sql`
      select text from unnest(${texts}::text[]) text
      where not node_words(text, '', '{}', null, null) @@ search_query(text, 'a')
    `
    assert.deepEqual([...lost], [])
  })
})

describe('the key of a repository', () => {
  const KEYS: [text: string, key: string][] = [
    ['https://GitHub.com/Foo/Bar', 'github.com/foo/bar'],
    ['https://github.com/foo/bar.git', 'github.com/foo/bar'],
    ['http://github.com/foo/bar/', 'github.com/foo/bar'],
    ['git+https://github.com/foo/bar.GIT/', 'github.com/foo/bar'],
    ['github.com/foo/bar', 'github.com/foo/bar'],
    ['ssh://git@github.com/foo/bar.git', 'github.com/foo/bar'],
    ['https://ann:secret@github.com/foo/bar', 'github.com/foo/bar'],
    ['', ''],
    ['https://', ''],
    ['.git', ''],
  ]
  for (const [text, key] of KEYS)
    test(`of ${JSON.stringify(text)} is ${JSON.stringify(key)}, which is its own`, async () => {
      const [row] = await database.sql`
        select repository_key(${text}) as key, repository_key(repository_key(${text})) as own
      `
      assert.deepEqual({ ...row }, { key, own: key })
    })
})

describe('the list of all nodes', () => {
  test('names only the nodes asked for, in any spelling', async () => {
    const { nodes, total } = await list({ node_id: ['COMFYUI-PACK-4', 'my-pack-2', 'none'] })
    assert.equal(total, 2)
    assert.deepEqual(nodes.map(({ id }) => id).toSorted(), ['ComfyUI-pack-4', 'my-pack-2'])
  })

  test('the list of all nodes shows what has changed since a time, a transition of a version too', async () => {
    const [clock] = await database.sql<{ now: Date }[]>`select clock_timestamp() as now`
    const timestamp = clock?.now.toISOString()
    const delta = async () => (await list({ timestamp })).nodes.map(({ id }) => id)
    assert.deepEqual(await delta(), [])
    await database.sql.begin((sql) =>
      updateNode(
        sql,
        { publisherId: 'maker-2', id: 'my-pack-2', fields: { author: 'Z' } },
        options,
      ),
    )
    const [version] = await database.sql<{ id: string }[]>`
      select id from version where node_id = 'ComfyUI-pack-8' and minor = 1
    `
    await database.sql.begin((sql) =>
      transitionVersion(sql, { id: version?.id ?? '', name: 'admin_ban', actor: 'x', reason: 'x' }),
    )
    assert.deepEqual(await delta(), ['ComfyUI-pack-8', 'my-pack-2'])
    assert.equal((await list({ timestamp: '2026-01-01T00:00:00.000Z' })).total, NODES)
  })
})

describe('totals', () => {
  const FILTERS: Partial<NodeSearch>[] = [
    {},
    { search: 'studio' },
    { search: 'my pa' },
    { supported_os: ['linux'] },
    { repository_url_search: 'maker3/' },
    { host_node_search: 'host node' },
    { include_banned: true },
    { tag: ['image'] },
  ]
  const VERSIONS: VersionFilter[] = [
    {},
    { statuses: ['NodeVersionStatusFlagged'] },
    { reason: 'PASSED' },
    { nodeId: 'MY-PACK-2' },
  ]

  /** Every total with a memory that is used all the time, and with a fresh one. */
  const readTotals = async (cache: typeof options.cache) =>
    await Promise.all([
      ...FILTERS.map(
        async (filter) =>
          (
            await searchNodes(
              database.sql,
              { page: 1, limit: 10, ...filter },
              { ...options, cache },
            )
          ).total,
      ),
      ...VERSIONS.map(
        async (filter) =>
          (
            await listVersions(
              database.sql,
              { filter, offset: 0, limit: 10 },
              { ...options, cache },
            )
          ).total,
      ),
    ])

  test('are exact after every kind of change, from memory too', async () => {
    const cache = makeCountCache()
    const seen = new Set<string>()
    const check = async () => {
      const totals = await readTotals(cache)
      assert.deepEqual(totals, await readTotals(makeCountCache()))
      const { counted, real } = await readCounts(database)
      assert.deepEqual(counted, real)
      seen.add(JSON.stringify(totals))
    }
    const begin = (work: Parameters<typeof database.sql.begin>[1]) =>
      database.sql.begin(work as never)
    const set = (id: string, fields: object) =>
      begin((sql) => updateNodeByAdmin(sql, { id, fields, audit: AUDIT }, options))
    const [version] = await database.sql<{ id: string }[]>`
      select id from version where node_id = 'ComfyUI-pack-12' and minor = 2
    `
    const transition = (name: 'admin_flag' | 'admin_activate' | 'delete') =>
      begin((sql) => transitionVersion(sql, { id: version?.id ?? '', name, actor: 'x' }))
    await check()
    await begin((sql) =>
      updateNode(
        sql,
        { publisherId: 'maker-2', id: 'my-pack-2', fields: { name: 'Studio', supported_os: [] } },
        options,
      ),
    )
    await check()
    await set('my-pack-22', { status: 'NodeStatusBanned', status_detail: 'x' })
    await check()
    await set('my-pack-22', { status: 'NodeStatusActive' })
    await check()
    await set('ComfyUI-pack-16', { status: 'NodeStatusDeleted' })
    await check()
    await transition('admin_flag')
    await check()
    await transition('admin_activate')
    await check()
    await transition('delete')
    await check()
    for (const name of ['ban', 'unban'] as const) {
      await begin((sql) =>
        transitionPublisher(sql, { id: 'maker-3', name, reason: 'x', audit: AUDIT }),
      )
      await check()
    }
    await begin(async (sql) => {
      await insertNodeRow(sql, { id: 'my-studio', publisherId: 'maker-3' })
      await setNodeFields(sql, 'my-studio', { name: 'Studio' })
      await setNodeFields(sql, 'my-studio', { name: '', description: 'a studio' })
      // What is counted meanwhile does not know of it.
      await set('my-pack-22', { status: 'NodeStatusDeleted' })
      await check()
      await recordListChange(sql, { nodes: 1 })
    })
    await check()
    assert.ok(seen.size >= 8, `${seen.size} different totals`)
  })

  test('show what another process has written, as soon as it has', async () => {
    const find = async () => {
      const { nodes, total } = await search({ search: 'studio', limit: 5 })
      return { first: nodes[0], total }
    }
    const { first, total } = await find()
    assert.ok(first?.publisher && first.latest_version)
    const { id, downloads } = first
    await countDownload(database.sql, { nodeId: id, versionId: first.latest_version.id })
    const counted = (await find()).first
    assert.deepEqual([counted?.id, counted?.downloads], [id, (downloads ?? 0) + 1])
    const transition = (name: 'ban' | 'unban') => {
      const of = { id: first.publisher?.id ?? '', name, reason: 'x', audit: AUDIT }
      return database.sql.begin((sql) => transitionPublisher(sql, of))
    }
    await transition('ban')
    const banned = await find()
    assert.notEqual(banned.first?.id, id)
    assert.ok(banned.total < total)
    await transition('unban')
    assert.deepEqual([(await find()).first?.id, (await find()).total], [id, total])
  })

  test('are counted once for the pages of a walk', async () => {
    const cache = makeCountCache()
    const counted: string[] = []
    const counting = {
      ...cache,
      get: <Counts>(
        key: string,
        changes: string,
        count: () => Promise<{ changes: string; counts: Counts }>,
      ) =>
        cache.get<Counts>(key, changes, () => {
          counted.push(key)
          return count()
        }),
    }
    const read = (page: number, sql: Queryable = database.sql) =>
      parse(
        searchNodes(sql, { search: 'studio', page, limit: 20 }, { ...options, cache: counting }),
      )
    await Promise.all([1, 2, 3].map((page) => read(page)))
    await walk(read)
    assert.ok(counted.length > 0, 'counted')
    assert.deepEqual(counted, [...new Set(counted)])
  })
})
