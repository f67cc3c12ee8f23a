import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeCountCache } from '../../../src/registry/db/search/listed-count.ts'
import type { NodeFilter } from '../../../src/registry/db/search/node-filter.ts'
import { updateNodeByAdmin } from '../../../src/registry/db/node-transition.ts'
import { countNodes } from '../../../src/registry/db/search/node-count.ts'
import {
  listNodePage,
  nodePageQuery,
  planNodePage,
} from '../../../src/registry/db/search/node-page.ts'
import type { NodeOrder } from '../../../src/registry/db/search/node-statements.ts'
import { listVersions, planVersionPage } from '../../../src/registry/db/search/version-list.ts'
import {
  versionPageQuery,
  type VersionFilter,
} from '../../../src/registry/db/search/version-statements.ts'
import { choosePagePlan, dividePage } from '../../../src/registry/db/search/page-plan.ts'
import { useDatabase } from '../../support/stack.ts'
import { fillCatalogue } from './registry-catalogue.ts'
import { AUDIT, parseEntries } from './registry-place.ts'

const NODES = 8_000
const PUBLIC_URL = 'http://kiln.test'

const database = useDatabase((made) => fillCatalogue(made, { nodes: NODES }))

type Fragment = ReturnType<typeof nodePageQuery>

/** Explains a query: the indexes that it reads, and the tables that it reads from end to end. */
const explain = async (
  query: Fragment,
): Promise<{ indexes: Set<string>; scanned: Set<string> }> => {
  const rows = await database.sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>`
    explain (format json) ${query}
  `
  const found = { indexes: new Set<string>(), scanned: new Set<string>() }
  const check = (node: PlanNode): void => {
    if (node['Index Name'] !== undefined) found.indexes.add(node['Index Name'])
    if (node['Node Type'] === 'Seq Scan') found.scanned.add(node['Relation Name'] ?? '')
    for (const child of node.Plans ?? []) check(child)
  }
  const [row] = rows
  if (row) check(row['QUERY PLAN'][0].Plan)
  return found
}

interface PlanNode {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  Plans?: PlanNode[]
}

describe('a page of nodes', () => {
  interface Page {
    order?: NodeOrder
    offset?: number
  }
  const BY_RANKING = ['node_stats_ranking']
  const BY_NAME = ['node_by_name', 'node_stats_pkey']
  const BY_KEY = 'node_repository_key_part'
  const BY_HOST = 'node_host_names_pkey'
  const BY_AGE = { order: 'created_at' } as const
  const LATE = new Date('2026-01-01T00:13:00Z')
  const SHAPES: [string, NodeFilter, 'pick' | 'walk', indexes: readonly string[], Page?][] = [
    ['a rare word', { term: 'rareword' }, 'pick', ['node_words']],
    ['a frequent word', { term: 'studio' }, 'walk', [...BY_RANKING, 'node_pkey']],
    ['two words', { term: 'sound rareword' }, 'pick', ['node_words']],
    ['three characters', { term: '-79' }, 'pick', ['node_words', 'node_id_part', 'node_name_part']],
    ['no term', {}, 'walk', BY_RANKING],
    ['no term, far down', {}, 'walk', BY_RANKING, { offset: 7_000 }],
    [
      'os and accelerator',
      { os: ['Plan 9'], accelerators: ['DirectML'] },
      'pick',
      ['node_platform_os'],
    ],
    ['a frequent os', { os: ['Linux'] }, 'walk', [...BY_RANKING, 'node_pkey']],
    ['a repository', { repository: 'https://github.com/Maker7/Pack7.git' }, 'pick', [BY_KEY]],
    ['a part of one', { repository: 'aker7/Pack7.git' }, 'pick', ['node_repository_part', BY_KEY]],
    ['a host node', { hostNode: 'node studio-pack-77' }, 'pick', ['node_host_names_part']],
    ['a frequent host node', { hostNode: 'host node' }, 'walk', [...BY_RANKING, BY_HOST]],
    ['all by creation, far down', {}, 'walk', ['node_stats_created'], { ...BY_AGE, offset: 7_900 }],
    ['all by name, the last first', {}, 'walk', BY_NAME, { order: 'name;desc' }],
    ['those of a system by name', { os: ['linux'] }, 'walk', BY_NAME, { order: 'name' }],
    ['most downloads first', {}, 'walk', ['node_stats_downloads'], { order: 'downloads;desc' }],
    ['the best first', {}, 'walk', ['node_stats_rating'], { order: 'rating;desc' }],
    ['the last by ranking first', {}, 'walk', BY_RANKING, { order: 'search_ranking;desc' }],
    ['those changed since a time', { changedSince: LATE }, 'pick', ['node_by_change'], BY_AGE],
    ['named ones', { ids: ['my-pack-2', 'my-pack-6'] }, 'pick', ['node_id_lower_key'], BY_AGE],
  ]
  for (const [what, filter, wanted, indexes, page = {}] of SHAPES)
    test(`of ${what} is read by its indexes`, async () => {
      const { order = 'relevance', offset = 0 } = page
      const query = { filter, order, offset, limit: 10 }
      const fresh = { cache: makeCountCache(), changes: '' }
      const counts = await countNodes(database.sql, { filter, reach: offset + 10 }, fresh)
      const parts = planNodePage(query, counts, NODES)
      assert.deepEqual([...new Set(parts.map(({ plan }) => plan))], [wanted])
      const plan = await explain(nodePageQuery(database.sql, query, parts, PUBLIC_URL))
      for (const index of indexes)
        assert.ok(plan.indexes.has(index), `${index}, not ${[...plan.indexes].join(' ')}`)
      for (const table of ['node', 'node_stats', 'node_host_names'])
        assert.ok(!plan.scanned.has(table), `${table} is read from end to end`)
    })
})

describe('a deep page', () => {
  const cache = makeCountCache()
  const read = async (filter: NodeFilter, offset: number, limit: number) => {
    const query = { filter, order: 'relevance', offset, limit } as const
    const options = { cache, publicUrl: PUBLIC_URL }
    const { nodes, total } = await listNodePage(database.sql, query, options)
    return { ids: parseEntries<{ id: string }>(nodes).map(({ id }) => id), total }
  }
  /** All of it, in pages of this size. */
  const walk = async (filter: NodeFilter, limit: number): Promise<string[]> => {
    const found: string[] = []
    for (;;) {
      const { ids, total } = await read(filter, found.length, limit)
      found.push(...ids)
      if (ids.length === 0 || found.length >= total) return found
    }
  }

  for (const filter of [{ term: 'studio' }, { term: 'pack' }, { hostNode: 'host node' }])
    test(`of ${JSON.stringify(filter)} repeats nothing and skips nothing, whatever its size`, async () => {
      const byHundreds = await walk(filter, 100)
      assert.ok(byHundreds.length > 2_000, String(byHundreds.length))
      assert.equal(new Set(byHundreds).size, byHundreds.length)
      assert.deepEqual(await walk(filter, 970), byHundreds)
    })

  test('is gathered once for many, again after a minute, and again when something is hidden', async (context) => {
    context.mock.timers.enable({ apis: ['Date'] })
    const filter = { term: 'studio' }
    const before = await read(filter, 2_500, 10)
    const [hidden = '', other = ''] = before.ids
    await database.sql`update node_stats set downloads = 1000 where node_id = ${other}`
    assert.deepEqual(await read(filter, 2_500, 10), before)
    context.mock.timers.tick(60_000)
    assert.ok(!(await read(filter, 2_500, 10)).ids.includes(other), 'its downloads count')
    const fields = { status: 'NodeStatusBanned', status_detail: 'x' } as const
    await database.sql.begin((sql) =>
      updateNodeByAdmin(sql, { id: hidden, fields, audit: AUDIT }, { publicUrl: PUBLIC_URL }),
    )
    assert.ok(!(await walk(filter, 1_000)).includes(hidden), 'hidden at once')
    assert.equal((await read(filter, 2_500, 10)).total, before.total - 1)
  })
})

describe('a page of versions', () => {
  const FLAGGED = { statuses: ['NodeVersionStatusFlagged'], reason: 'in studio-pack-7' } as const
  const SHAPES: [what: string, VersionFilter, index: string][] = [
    ['all', {}, 'version_newest'],
    ['a frequent status', { statuses: ['NodeVersionStatusActive'] }, 'version_newest'],
    ['flagged ones with a reason', FLAGGED, 'version_reason_part'],
    ['a frequent reason', { reason: 'passed' }, 'version_newest'],
    ['a node', { nodeId: 'MY-PACK-2' }, 'version_by_node'],
  ]
  for (const [what, filter, index] of SHAPES)
    test(`of ${what} is read by its index`, async () => {
      const options = { publicUrl: PUBLIC_URL, cache: makeCountCache() }
      const page = { filter, offset: 0, limit: 10 }
      const { total } = await listVersions(database.sql, page, options)
      assert.ok(total > 0, 'there are some')
      const plan = planVersionPage(page, { total, listed: 2 * NODES })
      const query = versionPageQuery(database.sql, page, plan, PUBLIC_URL)
      const { indexes, scanned } = await explain(query)
      assert.ok(indexes.has(index), `${index}, not ${[...indexes].join(' ')}`)
      assert.ok(!scanned.has('version'), 'version is read from end to end')
    })
})

describe('the plan of a page', () => {
  test('walks for what is frequent, gathers for what is rare or far down', () => {
    const walked = 100_000
    const choose = (hits: number, reach: number) =>
      choosePagePlan({ gathered: hits, hits, reach, walked })
    assert.deepEqual([choose(0, 10), choose(20, 10)], ['pick', 'pick'])
    assert.deepEqual([choose(80_000, 10), choose(80_000, 10_000)], ['walk', 'walk'])
    assert.equal(choose(20_000, 10_000), 'gather')
  })

  test('divides a page among the lists that it touches', () => {
    const lists = [
      { key: 'a', length: 3 },
      { key: 'b', length: 0 },
      { key: 'c', length: 10 },
    ]
    assert.deepEqual(dividePage(lists, { offset: 2, limit: 4 }), [
      { key: 'a', offset: 2, limit: 1 },
      { key: 'c', offset: 0, limit: 3 },
    ])
    const last = [{ key: 'c', offset: 9, limit: 1 }]
    assert.deepEqual(dividePage(lists, { offset: 12, limit: 5 }), last)
    assert.deepEqual(dividePage(lists, { offset: 13, limit: 5 }), [])
  })
})
