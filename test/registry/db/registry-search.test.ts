import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import fc from 'fast-check'

import type { Queryable, Transaction } from '../../../src/platform/db/client.ts'
import { makeCountCache, recordListChange } from '../../../src/registry/db/search/listed-count.ts'
import { listNodes } from '../../../src/registry/db/search/node-list.ts'
import { countDownload } from '../../../src/registry/db/download.ts'
import { updateNodeByAdmin } from '../../../src/registry/db/node-transition.ts'
import { nodePageQuery } from '../../../src/registry/db/search/node-page.ts'
import { CLASSES, type NodeFilter } from '../../../src/registry/db/search/node-filter.ts'
import { insertNodeRow, setNodeFields, updateNode } from '../../../src/registry/db/node.ts'
import type { PagePlan } from '../../../src/registry/db/search/page-plan.ts'
import { transitionPublisher } from '../../../src/registry/db/publisher-ban.ts'
import { countFacets, findMatchedHostNodes } from '../../../src/registry/db/search/facets.ts'
import { searchNodes } from '../../../src/registry/db/search/node-page.ts'
import type { NodeSearch } from '../../../src/registry/db/search/node-page.ts'
import { listVersions } from '../../../src/registry/db/search/version-list.ts'
import type { VersionFilter } from '../../../src/registry/db/search/version-statements.ts'
import { transitionVersion } from '../../../src/registry/db/version-transition.ts'
import type { Node, NodeFields } from '../../../src/registry/domain/node.ts'
import { ROOT } from '../../../src/local/root.ts'
import { useDatabase } from '../../support/stack.ts'
import { fillCatalogue } from './registry-catalogue.ts'
import { AUDIT, parseEntries, readCounts } from './registry-place.ts'

const NODES = 1_000

const database = useDatabase((made) => fillCatalogue(made, { nodes: NODES }))
const options = { publicUrl: 'http://kiln.test', cache: makeCountCache() }

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
  const whole = asked.length > 1 ? lettersOf(text) : ''
  const starts = (...texts: string[]) => {
    const words = [...wordsOf(texts.join(' ')), ...joinedOf(node.id), ...joinedOf(node.name)]
    const begins = (word: string) => words.some((other) => other.startsWith(word))
    return asked.every(begins) || (whole !== '' && begins(whole))
  }
  if (names.includes(text)) return 6
  if (names.some((name) => name.startsWith(text))) return 5
  if ((text.length >= 3 && names.some((name) => name.includes(text))) || starts(node.id, node.name))
    return 4
  const { publisher } = node
  const near = [node.id, node.name, ...node.tags, node.author ?? '', publisher.id, publisher.name]
  if (starts(...near)) return 3
  if (starts(...near, node.description)) return 2
  const hostNode = node.id.length % 2 === 0 ? `Host Node ${node.id}` : ''
  return starts(...near, node.description, hostNode) ? 1 : 0
}

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')

/** A name without blanks and marks, from each of its words on. */
const joinedOf = (name: string): string[] =>
  name.split(/[^A-Za-z0-9]+/).map((_, place, pieces) => lettersOf(pieces.slice(place).join('')))

const wordsOf = (text: string): string[] =>
  [text, text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')]
    .flatMap((one) => [
      ...one.split(/\s+/),
      ...one.split(/[\s\-_./]+/),
      ...one.split(/[^A-Za-z0-9]+/),
    ])
    .map((word) => word.toLowerCase())

const idsOf = (nodes: readonly Node[]): string[] => nodes.map(({ id }) => id)

const compare = (a: Node, b: Node): number =>
  a.search_ranking - b.search_ranking || b.downloads - a.downloads || (a.id < b.id ? -1 : 1)

const EVERYWHERE = 'Operating System :: OS Independent'

/** Makes the condition that a node lists a system first, lists none, or says that it runs everywhere. */
const runsOn =
  (system?: string) =>
  ({ supported_os: [os = EVERYWHERE] }: Pick<Node, 'supported_os'>): boolean =>
    os === EVERYWHERE || os === system

/** Systems as facets name them. */
const systemsOf = ({ supported_os: given }: Node): string[] =>
  given.flatMap((os) => (os === EVERYWHERE ? [] : os.includes('Windows') ? ['windows'] : [os]))

describe('a search', () => {
  let all: Node[]
  before(async () => void (all = (await list()).nodes))

  const TERMS = [
    ...'studio STUDIO ComfyUI-pack-8 studio-pack-1 image ui u tool mixer geMix'.split(' '),
    ..."rareword 100% 0% _ o_k it's \\ (".split(' '),
    ...'studio tools,ann studio,pack 77,makes sound,no such word,a & b | c:*'.split(','),
    ...'studiopack studio-tools-8,maker-7,maker-7/studio-pack-77,image mixer'.split(','),
    ...'host,host node studio,hostnode,image host,up scale,makes host'.split(','),
  ]
  for (const term of TERMS)
    test(`for ${JSON.stringify(term)} finds what the rule says, in its order, each once`, async () => {
      const expected = all
        .filter((node) => classOf(node, term) > 0)
        .toSorted((a, b) => classOf(b, term) - classOf(a, term) || compare(a, b))
      const { nodes, totals } = await walk((page) => search({ search: term, page, limit: 100 }))
      assert.deepEqual(idsOf(nodes), idsOf(expected))
      assert.deepEqual([...totals], [expected.length])
    })

  test('reads the same page whatever the plan', async () => {
    const read = async (plan: PagePlan) => {
      const parts = CLASSES.map((key) => ({ key, offset: 0, limit: 50, plan }))
      const filter = { term: 'studio', os: ['linux'], hostNode: 'node', repository: 'maker' }
      const asked = { filter, order: 'relevance' } as const
      const query = nodePageQuery(database.sql, asked, parts, options.publicUrl)
      return (await database.sql<{ id: string }[]>`${query}`).map(({ id }) => id)
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
    for (const term of ['studio', 'image', 'tool', 'host', 'makes', 'sound', 'rareword']) {
      const { nodes } = await search({ search: term })
      assert.deepEqual(await read(gather, term), idsOf(nodes), term)
      const last = all.filter((node) => classOf(node, term) === 2).toSorted(compare)
      assert.deepEqual(await read(walk, term), idsOf(last.slice(0, 10)), term)
      walked += last.length
    }
    assert.ok(walked > 10, String(walked))
  })

  test('holds every filter that is given', async () => {
    const check = async (given: Partial<NodeSearch>, holds: (node: Node) => boolean) => {
      const { nodes } = await walk((page) => search({ ...given, page, limit: 100 }))
      const expected = all.filter(holds).toSorted(compare)
      assert.ok(expected.length > 0, JSON.stringify(given))
      assert.deepEqual(idsOf(nodes), idsOf(expected))
    }
    await check({ supported_os: ['plan 9'] }, runsOn('Plan 9'))
    await check({ supported_os: ['none', 'LINUX'] }, runsOn('Linux'))
    await check({ supported_os: ['Windows'] }, runsOn('Microsoft :: Windows'))
    await check({ supported_os: ['os independent'] }, runsOn())
    await check(
      { supported_os: ['linux'], supported_accelerator: ['directml'] },
      (node) => runsOn('Linux')(node) && node.supported_accelerators[0] === 'DirectML',
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
    await check({ search: ' https://github.com/Maker7/Pack7.git' }, isPart('maker7/pack7'))
    await check({ repository_url_search: 'maker7/pack7.' }, isPart('maker7/pack7.'))
    await check({ repository_url_search: 'maker7/' }, ({ repository: url = '' }) =>
      /Maker7\//.test(url),
    )
    assert.equal((await search({ repository_url_search: 'maker_' })).total, 0)
    await check({ tag: ['none', 'IMAGE'] }, ({ tags }) => tags.includes('image'))
  })

  const GIVEN = [{ search: 'studio' }, { search: 'rareword' }, { host_node_search: 'node my' }, {}]
  for (const given of GIVEN)
    test(`comes in the order that is asked for: ${JSON.stringify(given)}`, async () => {
      const { nodes: found } = await walk((page) => search({ ...given, page, limit: 100 }))
      for (const by of ['name', 'created_at', 'downloads', 'search_ranking'] as const)
        for (const sort of [by, `${by};desc`] as const) {
          const sorted = (page: number) => search({ ...given, sort, page, limit: 70 })
          const { nodes, totals } = await walk(sorted)
          const isDown = sort !== by
          const keyOf = ({ [by]: key }: Node) => (typeof key === 'string' ? key.toLowerCase() : key)
          const expected = found.toSorted((a, b) => {
            const [low, high] = isDown ? [keyOf(b), keyOf(a)] : [keyOf(a), keyOf(b)]
            return low < high ? -1 : Number(low > high)
          })
          assert.deepEqual(nodes.map(keyOf), expected.map(keyOf), sort)
          assert.deepEqual(idsOf(nodes).toSorted(), idsOf(found).toSorted())
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
      os: runsOn('Linux'),
      tag: ({ tags }: Node) => tags.includes('image'),
    }
    const read = (given: NodeFilter) => countFacets(database.sql, given, makeCountCache())
    const found = await read({ term: 'studio', os: ['LINUX'], tags: ['image'] })
    const termed = all.filter(holds.term)
    const both = termed.filter((node) => holds.os(node) && holds.tag(node))
    assert.ok(both.length > 10)
    assert.deepEqual(found, {
      tag: count(termed.filter(holds.os), ({ tags }) => tags),
      os: count(termed.filter(holds.tag), systemsOf),
      accelerator: count(both, (node) => node.supported_accelerators),
      license: [],
    })
    const { os } = await read({ hostNode: 'host node' })
    const hosts = all.filter(({ id }) => id.length % 2 === 0)
    const expected = count(hosts, systemsOf)
    assert.deepEqual(os, expected)
    const tags = count(all, (node) => node.tags)
    assert.deepEqual((await read({})).tag, tags)
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
    ['KSampler-Advanced_v2', 'ksampler-advanced_v2 ksampler advanced v2 k sampler'.split(' ')],
    ['XMLParser', ['xmlparser', 'xml', 'parser']],
    ['foo.bar/baz', ['foo.bar/baz', 'foo', 'bar', 'baz']],
    ['(beta), 100%', ['(beta),', '100%', 'beta', '100']],
    ['ÄpfelBirne 画像', ['äpfelbirne', '画像', '像', 'äpfel', 'birne']],
    ['ＵＩ图像工具', ['ui图像工具', 'ui', '图像', '像工', '工具', '具']],
    ['ｶﾀ・カナ', ['かた', 'た', 'かな', 'な']],
    ['a'.repeat(300), ['a'.repeat(200)]],
  ]
  for (const [text, words] of TEXTS)
    test(`is cut at blanks, marks and changes of case: ${text.slice(0, 30)}`, async () => {
      const [row] = await database.sql<{ words: string[] }[]>`select search_words(${text}) as words`
      assert.deepEqual([...new Set(row?.words)].toSorted(), words.toSorted())
    })

  const TERMS: [term: string, query: string][] = [
    ['  Image  TOOLS', "'aimage':* & 'atools':* | 'aimagetools':*"],
    ['KSampler', "'aksampler':*"],
    ['foo-bar', "'afoo':* & 'abar':* | 'afoobar':*"],
    ['_', "'a_':*"],
    ['100% %', "'a100%':* & 'a%':* | 'a100':*"],
    ['修', "'a修':*"],
    ['UI图像', "'aui':* & 'a图像' | 'aui图像':*"],
  ]
  for (const [term, query] of TERMS)
    test(`is looked for by its beginning, its parts or as one word: ${term}`, async () => {
      const [row] = await database.sql`select search_query(${term}, 'a')::text as query`
      assert.equal(row?.['query'], query)
    })

  test('of a host node is looked for among all words', async () => {
    const [row] = await database.sql`select search_query('a b', 'd')::text as query`
    assert.equal(row?.['query'], "( 'ca':* | 'da':* ) & ( 'cb':* | 'db':* ) | 'cab':* | 'dab':*")
  })

  const PARTS: [text: string, found: string[], missing?: string[]][] = [
    ['图像修复工具', ['图像', '修复', '工具', '复', '图像修复工具'], ['工复', '複']],
    ['高质量视频放大节点', ['视频', '放大', '节点', '质', '视频放大']],
    ['換臉', ['臉', '換臉'], ['换脸']],
    ['画像のアップスケール', ['アップ', 'あっぷ', 'ｱｯﾌﾟ', 'スケール', 'の']],
    ['이미지 확대도구', ['확대', '도구', '지', '이미지확대'], ['구도']],
    ['ComfyUI图像工具Pro', ['comfyui', '图像', '工具', 'pro', 'comfyui 工具']],
    ['comfyui-videohelpersuite', ['video helper suite', 'video-helper', 'comfyui videohelper']],
    [
      'ComfyUI-image-upscaler',
      ['imageupscaler', 'ImageUps', 'comfyuiimage', 'upscaler'],
      ['magei'],
    ],
  ]
  for (const [text, found, missing = []] of PARTS)
    test(`is found by its parts and however it is joined: ${text}`, async () => {
      const rows = await database.sql<{ term: string }[]>`
        select term from unnest(${[...found, ...missing]}::text[]) term
        where node_words(${text}, '', '{}', null, null) @@ search_query(term, 'a')
      `
      assert.deepEqual(
        rows.map(({ term }) => term),
        found,
      )
    })

  test('is made of as many as a node can have, whatever its texts are', async () => {
    const long = Array.from({ length: 32_000 }, (_, at) => String.fromCodePoint(0x20000 + at)).join(
      '',
    )
    const spaced = Array.from(
      { length: 16_000 },
      (_, at) =>
        `${String.fromCodePoint(0x10400 + (at % 40), 0x10400 + (Math.floor(at / 40) % 40))} `,
    ).join('')
    for (const text of [long, spaced]) {
      const [row] = await database.sql<{ n: number }[]>`
        select length(node_words(${'a'.repeat(100)}, ${'一'.repeat(128)}, array[${text}], null, ${text})
          || host_node_words(array[${text}])) as n
      `
      assert.ok(row && row.n > 1_000, String(row?.n))
    }
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

/** Updates a node as its publisher does. */
const update = (fields: NodeFields) => {
  const node = { publisherId: 'maker-2', id: 'my-pack-2', fields }
  return database.sql.begin((sql) => updateNode(sql, node, options))
}

const findVersion = async (nodeId: string, minor: number): Promise<string> => {
  const [version] = await database.sql<{ id: string }[]>`
    select id from version where node_id = ${nodeId} and minor = ${minor}
  `
  return version?.id ?? ''
}

/** Bans a publisher, or ends its ban. */
const moderate = (id: string, name: 'ban' | 'unban') =>
  database.sql.begin((sql) => transitionPublisher(sql, { id, name, reason: 'x', audit: AUDIT }))

describe('the list of all nodes', () => {
  test('names only the nodes asked for, in any spelling', async () => {
    const { nodes, total } = await list({ node_id: ['COMFYUI-PACK-4', 'my-pack-2', 'none'] })
    assert.equal(total, 2)
    assert.deepEqual(idsOf(nodes).toSorted(), ['ComfyUI-pack-4', 'my-pack-2'])
  })

  test('the list of all nodes shows what has changed since a time, a transition of a version too', async () => {
    const [clock] = await database.sql<{ now: Date }[]>`select clock_timestamp() as now`
    const timestamp = clock?.now.toISOString()
    const delta = async () => idsOf((await list({ timestamp })).nodes)
    assert.deepEqual(await delta(), [])
    await update({ author: 'Z' })
    const id = await findVersion('ComfyUI-pack-8', 1)
    const ban = { id, name: 'admin_ban', actor: 'x', reason: 'x' } as const
    await database.sql.begin((sql) => transitionVersion(sql, ban))
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
  const readTotals = async (cache: typeof options.cache) => {
    const [{ sql }, own] = [database, { ...options, cache }]
    const found = await Promise.all([
      ...FILTERS.map((filter) => searchNodes(sql, { page: 1, limit: 10, ...filter }, own)),
      ...VERSIONS.map((filter) => listVersions(sql, { filter, offset: 0, limit: 10 }, own)),
    ])
    return found.map(({ total }) => total)
  }

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
    const begin = async (work: (sql: Transaction) => Promise<unknown>): Promise<void> =>
      void (await database.sql.begin(work))
    const set = (id: string, fields: object) =>
      begin((sql) => updateNodeByAdmin(sql, { id, fields, audit: AUDIT }, options))
    const version = await findVersion('ComfyUI-pack-12', 2)
    const transition = (name: 'admin_flag' | 'admin_activate' | 'delete') =>
      begin((sql) => transitionVersion(sql, { id: version, name, actor: 'x' }))
    const CHANGES = [
      async () => {},
      () => update({ name: 'Studio', supported_os: [] }),
      () => set('my-pack-22', { status: 'NodeStatusBanned', status_detail: 'x' }),
      () => set('my-pack-22', { status: 'NodeStatusActive' }),
      () => set('ComfyUI-pack-16', { status: 'NodeStatusDeleted' }),
      () => transition('admin_flag'),
      () => transition('admin_activate'),
      () => transition('delete'),
      () => moderate('maker-3', 'ban'),
      () => moderate('maker-3', 'unban'),
    ]
    for (const change of CHANGES) {
      await change()
      await check()
    }
    await begin(async (sql) => {
      await insertNodeRow(sql, { id: 'my-studio', publisherId: 'maker-3' })
      await setNodeFields(sql, { id: 'my-studio', fields: { name: 'Studio' } }, options)
      await setNodeFields(
        sql,
        { id: 'my-studio', fields: { name: '', description: 'a studio' } },
        options,
      )
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
    const publisher = first.publisher.id
    await moderate(publisher, 'ban')
    const banned = await find()
    assert.notEqual(banned.first?.id, id)
    assert.ok(banned.total < total)
    await moderate(publisher, 'unban')
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
