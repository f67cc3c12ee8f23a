import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

import {
  makeDatabase,
  type Fragment,
  type Sql,
  type Transaction,
} from '../../../src/platform/db/client.ts'
import { endBroken } from '../../../src/engines/db/device-error.ts'
import { countBatch, listWaitReasons, listItems } from '../../../src/tasks/db/bulk/bulk-item.ts'
import { completeAudit } from '../../../src/platform/db/audit-log.ts'
import { chooseTasks } from '../../../src/tasks/db/bulk/choice.ts'
import {
  findBulk,
  listBulks,
  listUnknownBulks,
  requestCancel,
} from '../../../src/tasks/db/bulk/bulk.ts'
import type { OperationRequest } from '../../../src/tasks/db/bulk/operation.ts'
import { redeliverMissed, redeliverToEndpoint } from '../../../src/events/db/redelivery.ts'
import { completeAttempt } from '../../../src/events/db/attempt.ts'
import { recordCondition } from '../../../src/events/db/platform-notice.ts'
import { transitionPublisher } from '../../../src/registry/db/publisher-ban.ts'
import { listUnknownPictures } from '../../../src/registry/db/picture.ts'
import { insertPublication } from '../../../src/registry/db/publish.ts'
import { listReports } from '../../../src/registry/db/report.ts'
import { transferNode, offerNode } from '../../../src/registry/db/transfer.ts'
import { insertTrustedPublisher } from '../../../src/registry/db/trusted-publisher.ts'
import { findRating, listRatings } from '../../../src/registry/db/rating-list.ts'
import { putRating } from '../../../src/registry/db/rating.ts'
import { putLicense, recordArchive } from '../../../src/registry/db/archive.ts'
import { listHostNodes } from '../../../src/registry/db/host-node-list.ts'
import { listPublishers } from '../../../src/registry/db/publisher.ts'
import { findVersionFacts, updateVersion } from '../../../src/registry/db/version.ts'
import { countFacets, listHostVersions } from '../../../src/registry/db/search/facets.ts'
import { findSimilar } from '../../../src/registry/db/search/similar-nodes.ts'
import { makeCountCache } from '../../../src/registry/db/search/listed-count.ts'
import { countNodes } from '../../../src/registry/db/search/node-count.ts'
import { isUnfiltered, type NodeFilter } from '../../../src/registry/db/search/node-filter.ts'
import type { PagePlan } from '../../../src/registry/db/search/page-plan.ts'
import { deleteNode, updateNodeByAdmin } from '../../../src/registry/db/node-transition.ts'
import { purgeUpload } from '../../../src/tasks/db/purge.ts'
import { countOpenTasks } from '../../../src/tasks/db/account.ts'
import { endPause } from '../../../src/tasks/db/pause.ts'
import { purgeDeleted } from '../../../src/tasks/db/task-deletion.ts'
import { listOwnerEvents, listTaskRows, listTasks } from '../../../src/tasks/db/task-list.ts'
import { reportUsage } from '../../../src/tasks/db/usage.ts'
import { admitOwner } from '../../../src/tasks/db/admission.ts'
import { claimTask } from '../../../src/tasks/db/task-transition.ts'
import { insertTask } from '../../../src/tasks/db/insert-task.ts'
import { listNodePage, nodePageQuery } from '../../../src/registry/db/search/node-page.ts'
import { listVersions } from '../../../src/registry/db/search/version-list.ts'
import {
  versionPageQuery,
  type VersionFilter,
} from '../../../src/registry/db/search/version-statements.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { ROOT, codePath } from '../../../src/local/root.ts'
import { useDatabase } from '../../support/stack.ts'
import { PATIENT } from '../../support/template.ts'
import {
  ANY,
  RESPONSES,
  hasTexts,
  listTemplates,
  makeRecordingSql,
  oneBlank,
} from './recording-sql.ts'
import type { RecordedResult } from './recording-sql.ts'

/** All calls together take some four seconds. */
const STUCK_MS = 20_000

const ID = '6f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'
const FOLDER = 'src'

/** A dozen rows, read once at a start; and what reads no table, on a connection of its own. */
const LEFT_OUT = [
  'platform/db/migrate.ts',
  'platform/db/lock-watch.ts',
  'platform/db/change-notification.ts',
]
/** Modules by which others read tables. */
const CLIENT =
  /^platform\/db\/(array-types|batch|client|pool|sqlstate|storable-text|transaction|unit-of-work|without-sync)\.ts$/

/** Statements that may read a table from end to end, by a part of their text. */
const WHOLE: Record<string, string> = {
  'delete from built_in_host_node': 'some thousand names, replaced by an operator',
  [`names || '' like`]: 'one or two characters have no trigram, and stand in most names',
  'from node n where true )': 'the list of all nodes, banned ones too',
  [`from node n where true and n.status = 'NodeStatusActive'`]: 'nearly all of them',
  'from node n where true and (n.id in (select node_id from node_host_names':
    'the set of the names is made once',
  'from node n where true ;': 'the number of all nodes that there ever were',
  [`from node n where n.status <> 'NodeStatusDeleted' `]: 'their count',
  'update repository_stars set next_check_at':
    'a third of them at least, when a host limits requests',
  'select value, count(*)': 'a facet is counted over all that is found, at most once a minute',
}

/** Tables of a handful of rows: admins make those, and an engine that fails; routes that have an upstream. */
const SMALL = ['pause', 'breaker', 'worker', 'upstream_body']

const NUMBERED = { version: ANY, number: ANY, fields: ANY }
const PUBLICATION = { id: ID, publisherId: ID, nodeId: 'a', ...NUMBERED } as never
const UPLOADED = { inputs: [{ storageKey: `uploads/${ID}/a` }], settings: {} }
const NEW_TASK = { id: ID, family: 'video', account: 'a', credits: 1, ...UPLOADED } as never
const SECOND_BREAK = { id: ID, task: { id: ID, fence: 1 }, instances: ['a', 'b'], detail: '' }
const LIMITS = { offPeakSeconds: 1, slots: 1, anonymousSlots: 1 }

const STORE = { removePrefix: () => Promise.resolve() }

type Call = (sql: Sql & Transaction) => unknown

const CACHE = { ...makeCountCache(), get: () => Promise.resolve(5_000) as Promise<never> }
const NODES = { publicUrl: '', cache: CACHE }
const PLACE = { createdAtUs: '1', id: ID, sequence: '1' }
const OWNED = { owner: 'a', families: undefined, after: PLACE, limit: 1 }
const TASK_FILTERS = [
  { owner: 'a', families: ['image'] },
  { owner: 'a', families: ['image'], kinds: ['text2video'] },
  { families: undefined, from: new Date(0), to: new Date(0), after: PLACE },
  {
    owner: 'a',
    families: undefined,
    kinds: ['relight'],
    states: ['running'],
    term: 'a',
    after: PLACE,
  },
  { owner: 'a', families: ['video'], labels: [{ a: 'b' }] },
  { owner: 'a', families: ['video'], batch: ID },
] as const
const BOUNDS = { from: new Date(0), to: new Date(0), batch: ID }
const OPERATIONS = [
  { action: 'cancel', filter: {}, of: 'a' },
  { action: 'delete', filter: { label: ['a:b'], from: '2026-01-01T00:00:00Z' }, of: 'a' },
  { action: 'redeliver', filter: { batch_id: ID } },
  { action: 'run_again', filter: { task_ids: [ID] } },
] as const satisfies OperationRequest[]
const USAGE_FILTERS = [
  { owner: 'a', families: ['image'], by: 'day' },
  { families: undefined, by: 'owner' },
  { families: undefined, by: 'label', key: 'a' },
  { owner: 'a', families: undefined, by: 'kind', label: { key: 'a', value: 'b' } },
] as const
const FILTERS: readonly NodeFilter[] = [
  {},
  { term: 'two words' },
  { term: 'ab' },
  { repository: 'acme' },
  { repository: 'https://git.example.com/acme' },
  { hostNode: 'Cut' },
  { hostNode: 'Cu' },
  { hostNode: 'Cut', os: ['a'], accelerators: ['a'] },
  { ids: ['a'] },
  { changedSince: new Date(0) },
  { term: 'word', includeBanned: true },
  { tags: ['a'] },
  { licenses: ['MIT'] },
  { tags: ['a'], excludedHostVersions: ['<2'] },
  { status: 'NodeStatusBanned', includeBanned: true },
  { status: 'NodeStatusActive', includeBanned: true },
  { includeBanned: true },
  { includeRemoved: true },
  { includeRemoved: true, changedSince: new Date(0) },
]
const PAGE = { offset: 0, limit: 10 }
const RATINGS = { page: 1, limit: 10 }
const OF_NODE = { nodeId: 'a', userId: 'a', minAgeHours: 0 }
const PLANS = ['pick', 'gather', 'walk'] as const
const as = (sql: Sql, query: Fragment): PromiseLike<unknown> => sql`${query}`

/** Calls that a made-up argument does not lead to: `columns` says which rows a function goes on with. */
const CALLS: readonly { columns?: Record<string, unknown>; call: Call }[] = [
  { call: (sql) => completeAttempt(sql, ANY, { result: ANY, verdict: { state: 'stopped' } }) },
  { call: (sql) => completeAttempt(sql, ANY, { result: ANY, verdict: { state: 'delivered' } }) },
  { call: (sql) => recordCondition(sql, 'queue', undefined) },
  { call: (sql) => admitOwner(sql, { ...LIMITS, owner: ID, startOf: ANY, enqueue: ANY }) },
  { call: (sql) => claimTask(sql, { id: ID, family: 'image', admission: 1 }) },
  { call: (sql) => insertTask(sql, NEW_TASK, ANY) },
  { call: (sql) => purgeDeleted({ sql, storage: STORE }, ID) },
  { call: (sql) => purgeUpload({ sql, storage: STORE }, ID) },
  {
    call: (sql) =>
      updateNodeByAdmin(sql, { id: 'a', fields: { search_ranking: 1 }, audit: ANY }, ANY),
  },
  {
    call: (sql) =>
      updateNodeByAdmin(sql, { id: 'a', fields: { own_stars: true }, audit: ANY }, ANY),
  },
  {
    columns: { node: { preempted_host_node_names: [] } },
    call: (sql) => {
      const fields = { preempted_host_node_names: ['A'] }
      return updateNodeByAdmin(sql, { id: 'a', fields, audit: ANY }, ANY)
    },
  },
  {
    columns: { status: 'PublisherStatusActive' },
    call: (sql) => insertPublication(sql, PUBLICATION, { publicUrl: '', enqueue: ANY }),
  },
  {
    columns: { status: 'PublisherStatusActive' },
    call: (sql) => {
      const publication = Object.assign({ isNodeToken: true }, PUBLICATION)
      return insertPublication(sql, publication, { publicUrl: '', enqueue: ANY })
    },
  },
  {
    columns: { publisherId: 'a' },
    call: (sql) => {
      const trust = { publisherId: 'a', node_id: 'a', provider: ANY, issuer: 'a', claims: {} }
      return insertTrustedPublisher(sql, { ...trust, created_by: 'a' }, ANY)
    },
  },
  { call: (sql) => transitionPublisher(sql, { id: ID, name: 'ban', reason: 'x', audit: ANY }) },
  {
    columns: { publisherId: 'a', from: 'a', status: 'NodeStatusActive' },
    call: (sql) => offerNode(sql, { nodeId: 'a', from: 'a', to: 'b', by: 'c' }),
  },
  ...[{}, { transferId: ID }].map((offer) => ({
    columns: { publisherId: 'a', from: 'a', id: 'a', status: 'NodeStatusActive' },
    call: (sql: Sql & Transaction) =>
      transferNode(sql, { nodeId: 'a', to: 'a', audit: ANY, ...offer }),
  })),
  { call: (sql) => listReports(sql, { nodeId: undefined, page: 1, pageSize: 1 }) },
  { columns: { isBanned: false }, call: (sql) => deleteNode(sql, ANY) },
  {
    columns: { archiveState: 'awaiting', obstacle: '' },
    call: (sql) => recordArchive(sql, ANY, ANY),
  },
  { call: (sql) => listPublishers(sql, { page: 1, limit: 1 }, ANY) },
  {
    call: (sql) => listPublishers(sql, { status: 'PublisherStatusBanned', page: 1, limit: 1 }, ANY),
  },
  { call: (sql) => findVersionFacts(sql, { nodeId: 'a', key: { id: ID }, userId: undefined }) },
  { call: (sql) => updateVersion(sql, { publisherId: ID, nodeId: 'a', id: ID, fields: ANY }, ANY) },
  { call: (sql) => listHostNodes(sql, { versionId: ID, search: 'a', page: 1, limit: 1 }) },
  {
    columns: { status: 'NodeStatusActive', isMember: false },
    call: (sql) => putRating(sql, { ...OF_NODE, fields: { stars: 1 }, canonical: '1.0.0' }),
  },
  { call: (sql) => findRating(sql, { nodeId: 'a', id: ID }, ANY) },
  ...[
    { nodeId: 'a', includeHidden: false },
    { nodeId: 'a', includeHidden: true },
    { nodeId: undefined, includeHidden: false },
  ].map((list) => ({ call: (sql: Sql) => listRatings(sql, { ...list, ...RATINGS }, ANY) })),
  ...TASK_FILTERS.map((filter) => ({
    call: (sql: Sql) => listTasks(sql, { ...filter, limit: 1 }),
  })),
  { call: (sql) => listOwnerEvents(sql, { ...OWNED, ...BOUNDS, states: ['exhausted'] }) },
  { call: (sql) => listTaskRows(sql, { ...BOUNDS, owner: 'a', families: undefined, ids: [ID] }) },
  { call: (sql) => redeliverMissed(sql, { ...BOUNDS, owner: 'a', families: ['image'] }, ANY) },
  { call: (sql) => redeliverToEndpoint(sql, { ...BOUNDS, endpointId: ID }, ANY) },
  ...USAGE_FILTERS.map((filter) => ({
    columns: { waited: [], ran: [] },
    call: (sql: Sql) => reportUsage(sql, { ...filter, from: '2026-01-01', to: '2026-01-02' }),
  })),
  { call: (sql) => listHostVersions(sql) },
  { call: (sql) => putLicense(sql, { versionId: ID, sha256: 'a', licenseId: 'MIT' }) },
  { call: (sql) => listUnknownPictures(sql, [ID]) },
  { call: (sql) => unitOfWork({ sql }, () => Promise.resolve(), { statementMs: 1 }) },
  { call: (sql) => listUnknownBulks(sql, [ID]) },
  { call: (sql) => listBulks(sql, { ...OWNED, kind: 'batch' }) },
  { call: (sql) => findBulk(sql, { id: ID, kind: 'batch', owner: 'a' }) },
  { call: (sql) => listItems(sql, { bulkId: ID, index: 0 }, 1) },
  { call: (sql) => countBatch(sql, ID) },
  { call: (sql) => listWaitReasons(sql, ID) },
  { call: (sql) => endPause(sql, 'host:a') },
  { call: (sql) => requestCancel(sql, ID) },
  { call: (sql) => countOpenTasks(sql, 'a') },
  { call: (sql) => endBroken(sql, SECOND_BREAK), columns: { isBroken: false } },
  {
    call: (sql) => completeAudit(sql, { action: 'operation.create', target: 'a', after: {} }),
  },
  ...OPERATIONS.map((operation) => ({
    call: (sql: Sql & Transaction) => chooseTasks(sql, operation),
  })),
  ...FILTERS.flatMap((filter) => searchCalls(filter)),
  ...versionCalls(),
]

/** Those that the service chooses among. */
function plansOf(filter: NodeFilter): readonly PagePlan[] {
  if (isUnfiltered(filter)) return ['walk']
  if (filter.includeRemoved) return ['pick', 'gather']
  return filter.includeBanned ? ['gather'] : PLANS
}

function searchCalls(filter: NodeFilter): { call: Call }[] {
  const cache = makeCountCache()
  /** Counts, and counts again once something has changed. */
  const count: Call = async (sql) => {
    for (const changes of ['1', '2'])
      await countNodes(sql, { filter, reach: 1e9 }, { cache, changes })
  }
  const keys = filter.term === undefined ? ([0] as const) : ([0, 1, 2, 3, 4, 5] as const)
  const others = [
    ...(['search_ranking;desc', 'created_at;desc', 'name;desc'] as const),
    ...(['github_stars', 'github_stars;desc', 'rating', 'rating;desc'] as const),
  ]
  const orders = [
    ...(['relevance', 'created_at', 'downloads;desc', 'name'] as const),
    ...(isUnfiltered(filter) ? others : []),
  ]
  return [
    ...(isUnfiltered(filter) ? [] : [{ call: count }]),
    ...plansOf(filter).flatMap((plan) =>
      orders.flatMap((order) =>
        keys.map((key) => {
          const parts = [10, 1000].map((limit) => ({ key, plan, offset: 0, limit }))
          return { call: (sql: Sql) => as(sql, nodePageQuery(sql, { filter, order }, parts, '')) }
        }),
      ),
    ),
    { call: (sql) => countFacets(sql, filter, makeCountCache()) },
    { call: (sql) => findSimilar(sql, filter) },
    { call: (sql) => listNodePage(sql, { filter, order: 'created_at', ...PAGE }, NODES) },
  ]
}

function versionCalls(): { call: Call }[] {
  const filters: VersionFilter[] = [
    {},
    { statuses: ['NodeVersionStatusFlagged'] },
    { statuses: ['NodeVersionStatusFlagged'], reason: 'a' },
    { reason: 'a' },
    { nodeId: 'a' },
    { reviewRequested: true },
    { reviewRequested: false },
  ]
  return filters.flatMap((filter) => [
    ...[{}, { isByReview: filter.reviewRequested, isModerated: true }].map((form) => ({
      call: (sql: Sql) =>
        listVersions(sql, { filter, ...PAGE, form }, { ...NODES, cache: makeCountCache() }),
    })),
    ...PLANS.map((plan) => ({
      call: (sql: Sql) => as(sql, versionPageQuery(sql, { filter, ...PAGE }, plan, '')),
    })),
  ])
}

/** Calls of all functions that the areas export, with made-up arguments. */
async function listExported(files: readonly string[]): Promise<Call[]> {
  const areas = files.filter((file) => !CLIENT.test(file))
  const modules = areas.map((file) => import(pathToFileURL(codePath(`${FOLDER}/${file}`)).href))
  return (await Promise.all(modules))
    .flatMap((module) => Object.values(module as object))
    .filter((made) => typeof made === 'function')
    .map((made: (...values: unknown[]) => unknown) => async (sql) => await made(sql, ANY, ANY, ANY))
}

describe('each statement of an area', () => {
  const database = useDatabase()
  let files: string[]
  const received = new Set<string>()

  before(async () => {
    files = (await readdir(join(ROOT, FOLDER), { recursive: true })).filter(
      (file) => /^\w+\/db\/.*\.ts$/.test(file) && !LEFT_OUT.includes(file),
    )
    const sql = makeDatabase({ url: database.url, ...PATIENT, pool: 4 })
    const record = async (call: Call, result: RecordedResult): Promise<void> => {
      // A made-up response may make it fail, or wait for what never comes: its statements until then were recorded.
      const called = Promise.resolve(call(makeRecordingSql(sql, received, result))).catch(() => {})
      await Promise.race([called, sleep(STUCK_MS, undefined, { ref: false })])
    }
    for (const call of await listExported(files))
      for (const result of RESPONSES) await record(call, result)
    for (const { call, columns = {} } of CALLS)
      for (const result of RESPONSES) await record(call, { ...result, columns })
    await sql.end({ timeout: 1 })
  })

  test('is found whatever is in its types and expressions', () => {
    const source = 'sql<(A & { b: C })[]>`one ${f("}`")} two ${g(\'{\', sql`three`)}`'
    assert.deepEqual(listTemplates(source), [['one ', ' two ', ''], ['three']])
    assert.throws(() => listTemplates('sql`one ${two'), /ends within a template/)
  })

  test('is heard by this test', async () => {
    const statements = [...received].map(oneBlank)
    const missing: string[] = []
    for (const file of files)
      for (const texts of listTemplates(await readFile(join(ROOT, FOLDER, file), 'utf8')))
        if (!statements.some((statement) => hasTexts(statement, texts)))
          missing.push(`${file}: ${texts.join(' … ').trim()}`)
    assert.deepEqual(missing, [])
  })

  test('reads by an index', async () => {
    const issues: string[] = []
    for (const text of received) {
      if (Object.keys(WHOLE).some((part) => `${oneBlank(text)} ;`.includes(part))) continue
      const scanned = await listScanned(text)
      if (scanned.length > 0) issues.push(`${scanned.join()}: ${oneBlank(text)}`)
    }
    assert.deepEqual(issues, [])
  })

  /** Tables that the plan of a statement reads from end to end although nothing is cheaper than an index. */
  const listScanned = async (text: string): Promise<string[]> => {
    const [, explained] = await database.sql
      .unsafe(`set local enable_seqscan = off; explain (generic_plan, format json) ${text}`)
      .simple()
    const plan = JSON.stringify(explained)
    return [...plan.matchAll(/"Node Type":"Seq Scan".*?"Relation Name":"(\w+)"/g)]
      .map(([, table]) => table ?? '')
      .filter((table) => !SMALL.includes(table))
  }
})
