import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { makeCountMemo } from '../../src/db/search/listed-count.ts'
import type { NodeFilter } from '../../src/db/search/node-filter.ts'
import { updateNodeByAdmin } from '../../src/db/registry/node-move.ts'
import { countNodes } from '../../src/db/search/node-count.ts'
import { listNodePage, nodePageQuery, planNodePage } from '../../src/db/search/node-page.ts'
import type { NodeOrder } from '../../src/db/search/node-page.ts'
import {
  listVersions,
  planVersionPage,
  versionPageQuery,
} from '../../src/db/search/version-list.ts'
import type { VersionFilter } from '../../src/db/search/version-list.ts'
import { choosePagePlan, dividePage } from '../../src/db/search/page-plan.ts'
import { createDatabase } from '../support/stack.ts'
import type { TestDatabase } from '../support/stack.ts'
import { fillCatalogue } from './registry-catalogue.ts'
import { AUDIT, parseEntries } from './registry-place.ts'

const NODES = 8_000
const PUBLIC_URL = 'http://kiln.test'

let database: TestDatabase
before(async () => {
  database = await createDatabase()
  await fillCatalogue(database, { nodes: NODES })
})
after(() => database.drop())

type Fragment = ReturnType<typeof nodePageQuery>

/** What a statement is carried out with: the indexes that it reads, and the tables that it reads from end to end. */
const explain = async (
  query: Fragment,
): Promise<{ indexes: Set<string>; scanned: Set<string> }> => {
  const rows = await database.sql<{ 'QUERY PLAN': [{ Plan: PlanNode }] }[]>`
    explain (format json) ${query}
  `
  const found = { indexes: new Set<string>(), scanned: new Set<string>() }
  const look = (node: PlanNode): void => {
    if (node['Index Name'] !== undefined) found.indexes.add(node['Index Name'])
    if (node['Node Type'] === 'Seq Scan') found.scanned.add(node['Relation Name'] ?? '')
    for (const child of node.Plans ?? []) look(child)
  }
  const [row] = rows
  if (row) look(row['QUERY PLAN'][0].Plan)
  return found
}

interface PlanNode {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  Plans?: PlanNode[]
}

describe('a page of nodes', () => {
  interface Shape {
    what: string
    filter: NodeFilter
    order?: NodeOrder
    offset?: number
    plan: readonly string[]
    indexes: readonly string[]
  }
  const SHAPES: readonly Shape[] = [
    {
      what: 'a rare word',
      filter: { term: 'rareword' },
      plan: ['pick'],
      indexes: ['node_words'],
    },
    {
      what: 'a frequent word',
      filter: { term: 'studio' },
      plan: ['walk'],
      indexes: ['node_stats_ranking', 'node_pkey'],
    },
    {
      what: 'two words',
      filter: { term: 'sound rareword' },
      plan: ['pick'],
      indexes: ['node_words'],
    },
    {
      what: 'a part of three characters',
      filter: { term: '-79' },
      plan: ['pick'],
      indexes: ['node_words', 'node_id_part', 'node_name_part'],
    },
    { what: 'no term', filter: {}, plan: ['walk'], indexes: ['node_stats_ranking'] },
    {
      what: 'no term, far down',
      filter: {},
      offset: 7_000,
      plan: ['walk'],
      indexes: ['node_stats_ranking'],
    },
    {
      what: 'os and accelerator',
      filter: { os: ['Plan 9'], accelerators: ['DirectML'] },
      plan: ['pick'],
      indexes: ['node_os'],
    },
    {
      what: 'a frequent os',
      filter: { os: ['Linux'] },
      plan: ['walk'],
      indexes: ['node_stats_ranking', 'node_pkey'],
    },
    {
      what: 'a whole repository',
      filter: { repository: 'https://github.com/Maker7/Pack7.git' },
      plan: ['pick'],
      indexes: ['node_repository_key_part'],
    },
    {
      what: 'a part of a repository',
      filter: { repository: 'aker7/Pack7.git' },
      plan: ['pick'],
      indexes: ['node_repository_part', 'node_repository_key_part'],
    },
    {
      what: 'a host node',
      filter: { hostNode: 'node studio-pack-77' },
      plan: ['pick'],
      indexes: ['node_host_names_part'],
    },
    {
      what: 'a frequent host node',
      filter: { hostNode: 'host node' },
      plan: ['walk'],
      indexes: ['node_stats_ranking', 'node_host_names_pkey'],
    },
    {
      what: 'all by creation, far down',
      filter: {},
      order: 'created_at',
      offset: 7_900,
      plan: ['walk'],
      indexes: ['node_stats_created'],
    },
    {
      what: 'all by name, the last first',
      filter: {},
      order: 'name;desc',
      plan: ['walk'],
      indexes: ['node_by_name', 'node_stats_pkey'],
    },
    {
      what: 'those of a system by name',
      filter: { os: ['linux'] },
      order: 'name',
      plan: ['walk'],
      indexes: ['node_by_name', 'node_stats_pkey'],
    },
    {
      what: 'all by downloads, most first',
      filter: {},
      order: 'downloads;desc',
      plan: ['walk'],
      indexes: ['node_stats_downloads'],
    },
    {
      what: 'all by ranking, the last first',
      filter: {},
      order: 'search_ranking;desc',
      plan: ['walk'],
      indexes: ['node_stats_ranking'],
    },
    {
      what: 'those changed since a time',
      filter: { changedSince: new Date('2026-01-01T00:13:00Z') },
      order: 'created_at',
      plan: ['pick'],
      indexes: ['node_by_change'],
    },
    {
      what: 'named ones',
      filter: { ids: ['my-pack-2', 'my-pack-6'] },
      order: 'created_at',
      plan: ['pick'],
      indexes: ['node_id_lower_key'],
    },
  ]
  for (const shape of SHAPES)
    test(`of ${shape.what} is read by its indexes`, async () => {
      const { filter, order = 'relevance', offset = 0 } = shape
      const query = { filter, order, offset, limit: 10 }
      const counts = await countNodes(
        database.sql,
        { filter, reach: offset + 10 },
        { memo: makeCountMemo(), changes: '' },
      )
      const parts = planNodePage(query, counts, NODES)
      assert.deepEqual([...new Set(parts.map(({ plan }) => plan))], shape.plan)
      const plan = await explain(nodePageQuery(database.sql, query, parts, PUBLIC_URL))
      for (const index of shape.indexes)
        assert.ok(plan.indexes.has(index), `${index}, not ${[...plan.indexes].join(' ')}`)
      for (const table of ['node', 'node_stats', 'node_host_names'])
        assert.ok(!plan.scanned.has(table), `${table} is read from end to end`)
    })
})

describe('a deep page', () => {
  const memo = makeCountMemo()
  const read = async (filter: NodeFilter, offset: number, limit: number) => {
    const query = { filter, order: 'relevance', offset, limit } as const
    const { nodes, total } = await listNodePage(database.sql, query, {
      memo,
      publicUrl: PUBLIC_URL,
    })
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

  test('is gathered once for many, anew after a minute, and anew when something is hidden', async (context) => {
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
  interface Shape {
    what: string
    filter: VersionFilter
    index: string
  }
  const SHAPES: readonly Shape[] = [
    { what: 'all', filter: {}, index: 'version_newest' },
    {
      what: 'a frequent status',
      filter: { statuses: ['NodeVersionStatusActive'] },
      index: 'version_newest',
    },
    {
      what: 'flagged ones with a reason',
      filter: { statuses: ['NodeVersionStatusFlagged'], reason: 'in studio-pack-7' },
      index: 'version_reason_part',
    },
    { what: 'a frequent reason', filter: { reason: 'passed' }, index: 'version_newest' },
    { what: 'a node', filter: { nodeId: 'MY-PACK-2' }, index: 'version_by_node' },
  ]
  for (const { what, filter, index } of SHAPES)
    test(`of ${what} is read by its index`, async () => {
      const options = { publicUrl: PUBLIC_URL, memo: makeCountMemo() }
      const page = { filter, offset: 0, limit: 10 }
      const { total } = await listVersions(database.sql, page, options)
      assert.ok(total > 0, 'there are some')
      const plan = planVersionPage(page, { total, listed: 2 * NODES })
      const { indexes, scanned } = await explain(
        versionPageQuery(database.sql, page, plan, PUBLIC_URL),
      )
      assert.ok(indexes.has(index), `${index}, not ${[...indexes].join(' ')}`)
      assert.ok(!scanned.has('version'), 'version is read from end to end')
    })
})

describe('the plan of a page', () => {
  test('walks for what is frequent, gathers for what is rare or far down', () => {
    const walked = 100_000
    const choose = (hits: number, reach: number) =>
      choosePagePlan({ gathered: hits, hits, reach, walked })
    assert.equal(choose(0, 10), 'pick')
    assert.equal(choose(20, 10), 'pick')
    assert.equal(choose(80_000, 10), 'walk')
    assert.equal(choose(80_000, 10_000), 'walk')
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
    assert.deepEqual(dividePage(lists, { offset: 12, limit: 5 }), [
      { key: 'c', offset: 9, limit: 1 },
    ])
    assert.deepEqual(dividePage(lists, { offset: 13, limit: 5 }), [])
  })
})
