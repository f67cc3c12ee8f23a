import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { makeDatabase } from '../../src/db/client.ts'
import type { Sql, Transaction } from '../../src/db/client.ts'
import {
  beginAttempt,
  findLostAttempt,
  findLostRedelivery,
  findReceiver,
} from '../../src/db/event/attempt.ts'
import {
  findDelivery,
  findRedelivery,
  findTaskInWait,
  listStillDeliveries,
  listStillRedeliveries,
} from '../../src/db/event/delivery.ts'
import {
  existsEvent,
  insertRedelivery,
  listAttempts,
  listEvents,
  redeliverExhausted,
} from '../../src/db/event/event-log.ts'
import { countRedelivery } from '../../src/db/event/redelivery-limit.ts'
import { listSecrets } from '../../src/db/event/webhook-secret.ts'
import {
  claimImageTask,
  findImageTask,
  listImageTasks,
  moveImageTask,
} from '../../src/db/image-task/image-task.ts'
import {
  acceptArchive,
  findArchive,
  findArchivePlace,
  rejectArchive,
  startUpload,
} from '../../src/db/registry/archive.ts'
import { listAudit } from '../../src/db/registry/audit-log.ts'
import {
  failExtraction,
  findExtraction,
  hasExtraction,
  settleExtraction,
} from '../../src/db/registry/extraction.ts'
import { listHostNodes, readHostNodeEntries } from '../../src/db/registry/host-node-list.ts'
import { findHostNode, findNodeOfHostNode } from '../../src/db/registry/host-node.ts'
import { listMembers } from '../../src/db/registry/member.ts'
import { findNodeFacts } from '../../src/db/registry/node.ts'
import {
  findDependencies,
  findOpenVersion,
  findVersionState,
  listStillExtractions,
  listStillVersions,
  listStuckVersions,
} from '../../src/db/registry/open-version.ts'
import {
  findPersonalAccessToken,
  listPersonalAccessTokens,
} from '../../src/db/registry/personal-access-token.ts'
import {
  existsPublisher,
  findPublisherFacts,
  listPublishers,
} from '../../src/db/registry/publisher.ts'
import { countDownload } from '../../src/db/registry/download.ts'
import { listReviews } from '../../src/db/registry/review.ts'
import { findScan, hasScan, listFindings } from '../../src/db/registry/scan.ts'
import { listVersionMoves } from '../../src/db/registry/version-move.ts'
import { findVersionFacts } from '../../src/db/registry/version.ts'
import { getListed, makeCountMemo } from '../../src/db/search/listed-count.ts'
import { readNodeEntries, readNodeText } from '../../src/db/search/node-entries.ts'
import { listPublisherNodes } from '../../src/db/search/node-list.ts'
import {
  listNodeVersions,
  listVersions,
  listVersionsInBulk,
  readVersionEntries,
} from '../../src/db/search/version-list.ts'
import { findApiKey, listApiKeys, touchApiKey } from '../../src/db/shared/api-key.ts'
import { ensureUser, findUser } from '../../src/db/shared/app-user.ts'
import { claimKey } from '../../src/db/shared/idempotency.ts'
import { findFile } from '../../src/db/shared/file.ts'
import {
  isStartPending,
  leaseOutbox,
  listOldestOutbox,
  markDispatched,
} from '../../src/db/shared/outbox.ts'
import {
  deleteOldAttempts,
  deleteOldRecords,
  listTasksToPurge,
  listUploadsToPurge,
  listVersionsToSweep,
  markTaskPurged,
  markUploadPurged,
} from '../../src/db/shared/purge.ts'
import { existsUpload } from '../../src/db/shared/upload.ts'
import { listStuckTasks } from '../../src/db/task/operator.ts'
import { listStillTasks } from '../../src/db/task/reconcile.ts'
import { listFetchedInputs, listTaskInputs } from '../../src/db/task/task-file.ts'
import { countFailure, findTaskState, holdsFence } from '../../src/db/task/task.ts'
import {
  claimVideoTask,
  findVideoSource,
  findVideoTask,
  noteProgress,
} from '../../src/db/video-task/video-task.ts'
import { createDatabase } from '../support/stack.ts'
import type { TestDatabase } from '../support/stack.ts'

const ID = '6f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'
const TASK = { id: ID, taskId: ID, owner: 'alice', fence: 1 }
const VERSION = { versionId: ID, sha256: 'a', storageKey: 'a', code: 'a', reason: 'a' }
const STILL = { afterSeconds: 60, after: ID, limit: 100 }
const PUBLISHER = { id: 'acme', publisherId: 'acme', userId: 'alice', sha256: 'a' }
const PAGE = { page: 1, perPage: 10, pageSize: 10, limit: 10 }
const VERSION_OF = { nodeId: 'a', userId: 'alice' }
const MEMO = makeCountMemo()
const NODES = { publicUrl: '', memo: MEMO, texts: MEMO.texts }
const SINCE = { owner: 'alice', since: new Date(0) }
const STARTS = {
  taskQueue: 'kiln',
  options: { summary: '', searchAttributes: {}, priorityKey: 3, fairnessKey: 'a' },
}

type Call = (sql: Sql & Transaction) => unknown

/** What the service asks of its tables, with arguments that find nothing. */
const CALLS: Record<string, Call> = {
  findReceiver: (sql) => findReceiver(sql, ID),
  beginAttempt: (sql) => beginAttempt(sql, { eventId: ID }),
  findLostAttempt: (sql) => findLostAttempt(sql, ID),
  findLostRedelivery: (sql) => findLostRedelivery(sql, ID),
  findDelivery: (sql) => findDelivery(sql, ID),
  findRedelivery: (sql) => findRedelivery(sql, ID),
  findTaskInWait: (sql) => findTaskInWait(sql, ID),
  listStillDeliveries: (sql) => listStillDeliveries(sql, STILL),
  listStillRedeliveries: (sql) => listStillRedeliveries(sql, STILL),
  listEvents: (sql) => listEvents(sql, TASK),
  existsEvent: (sql) => existsEvent(sql, { ...TASK, eventId: ID }),
  listAttempts: (sql) => listAttempts(sql, ID),
  insertRedelivery: (sql) => insertRedelivery(sql, ID),
  countRedelivery: (sql) =>
    countRedelivery(sql, { id: ID, host: 'a' }, { perEvent: 1, perHost: 1 }),
  redeliverExhausted: (sql) => redeliverExhausted(sql, SINCE, STARTS),
  listSecrets: (sql) => listSecrets(sql, 'alice'),
  findImageTask: (sql) => findImageTask(sql, { ...TASK, kinds: ['relight'] }),
  listImageTasks: (sql) => listImageTasks(sql, { ...TASK, ...PAGE, segment: 'image-relight' }),
  moveImageTask: (sql) => moveImageTask(sql, { id: ID, to: 'COMPLETED' }),
  claimImageTask: (sql) => claimImageTask(sql, ID),
  findArchivePlace: (sql) => findArchivePlace(sql, ID),
  startUpload: (sql) => startUpload(sql, ID),
  acceptArchive: (sql) => acceptArchive(sql, VERSION),
  rejectArchive: (sql) => rejectArchive(sql, VERSION),
  findArchive: (sql) => findArchive(sql, ID),
  listAudit: (sql) => listAudit(sql, { ...PAGE, actor: 'alice', action: undefined, target: 'a' }),
  hasExtraction: (sql) => hasExtraction(sql, { ...VERSION, extractorVersion: 1 }),
  settleExtraction: (sql) => settleExtraction(sql, ID),
  failExtraction: (sql) => failExtraction(sql, VERSION),
  findExtraction: (sql) => findExtraction(sql, ID),
  listHostNodes: (sql) => listHostNodes(sql, { ...PAGE, versionId: ID }),
  readHostNodeEntries: (sql) => readHostNodeEntries(sql, { versionId: ID, names: ['a'] }),
  readVersionEntries: (sql) => readVersionEntries(sql, [ID], { publicUrl: '' }),
  readNodeEntries: (sql) => readNodeEntries(sql, ['a'], { publicUrl: '' }),
  findHostNode: (sql) => findHostNode(sql, { versionId: ID, name: 'Cut' }),
  findNodeOfHostNode: (sql) => findNodeOfHostNode(sql, 'Cut', { publicUrl: '' }),
  listMembers: (sql) => listMembers(sql, 'acme'),
  findNodeFacts: (sql) => findNodeFacts(sql, PUBLISHER),
  findVersionState: (sql) => findVersionState(sql, ID),
  findDependencies: (sql) => findDependencies(sql, ID),
  findOpenVersion: (sql) => findOpenVersion(sql, ID),
  listStillVersions: (sql) => listStillVersions(sql, STILL),
  listStillExtractions: (sql) => listStillExtractions(sql, STILL),
  listStuckVersions: (sql) => listStuckVersions(sql),
  listPersonalAccessTokens: (sql) => listPersonalAccessTokens(sql, 'acme'),
  findPersonalAccessToken: (sql) => findPersonalAccessToken(sql, PUBLISHER),
  existsPublisher: (sql) => existsPublisher(sql, 'acme'),
  findPublisherFacts: (sql) => findPublisherFacts(sql, PUBLISHER),
  listPublishers: (sql) => listPublishers(sql, { ...PAGE, userId: 'alice' }),
  listReviews: (sql) => listReviews(sql, ID),
  findScan: (sql) => findScan(sql, ID),
  hasScan: (sql) => hasScan(sql, { ...VERSION, scanner: 'kiln', scannerVersion: 1 }),
  listFindings: (sql) => listFindings(sql, ID),
  listVersionMoves: (sql) => listVersionMoves(sql, ID),
  findApiKey: (sql) => findApiKey(sql, 'a'),
  listApiKeys: (sql) => listApiKeys(sql, 'alice'),
  touchApiKey: (sql) => touchApiKey(sql, ID),
  findUser: (sql) => findUser(sql, 'alice'),
  findFile: (sql) =>
    findFile(sql, { ...TASK, name: 'a.png', owner: 'alice', scope: 'tasks' } as never),
  isStartPending: (sql) => isStartPending(sql, 'a'),
  leaseOutbox: (sql) => leaseOutbox(sql),
  listOldestOutbox: (sql) => listOldestOutbox(sql),
  countDownload: (sql) => countDownload(sql, { nodeId: 'a', versionId: ID }),
  findVersionFacts: (sql) => findVersionFacts(sql, { ...VERSION_OF, key: { canonical: '1.0.0' } }),
  'findVersionFacts by id': (sql) => findVersionFacts(sql, { ...VERSION_OF, key: { id: ID } }),
  getListed: (sql) => getListed(sql, 'node'),
  listNodeVersions: (sql) => listNodeVersions(sql, VERSION_OF, NODES),
  listVersionsInBulk: (sql) =>
    listVersionsInBulk(sql, [{ nodeId: 'a', canonical: '1.0.0' }], NODES),
  'listVersions of a node': (sql) =>
    listVersions(sql, { filter: { nodeId: 'a' }, offset: 0, limit: 10 }, NODES),
  readNodeText: (sql) => readNodeText(sql, { id: 'a', revision: '1' }, NODES),
  listPublisherNodes: (sql) => listPublisherNodes(sql, { ...PUBLISHER, ...PAGE }, NODES),
  ensureUser: (sql) => ensureUser(sql, 'alice'),
  claimKey: (sql) => claimKey(sql, { principal: 'a', method: 'POST', path: '/', key: 'a' }, ID),
  markDispatched: (sql) => markDispatched(sql, ['1']),
  deleteOldAttempts: (sql) => deleteOldAttempts(sql, 30),
  deleteOldRecords: (sql) => deleteOldRecords(sql),
  listTasksToPurge: (sql) => listTasksToPurge(sql, 30),
  listUploadsToPurge: (sql) => listUploadsToPurge(sql),
  listVersionsToSweep: (sql) => listVersionsToSweep(sql),
  markTaskPurged: (sql) => markTaskPurged(sql, ID),
  markUploadPurged: (sql) => markUploadPurged(sql, ID),
  existsUpload: (sql) => existsUpload(sql, ID),
  listStuckTasks: (sql) => listStuckTasks(sql),
  listStillTasks: (sql) => listStillTasks(sql, STILL),
  listFetchedInputs: (sql) => listFetchedInputs(sql, ID),
  listTaskInputs: (sql) => listTaskInputs(sql, ID),
  countFailure: (sql) => countFailure(sql, TASK),
  findTaskState: (sql) => findTaskState(sql, ID),
  holdsFence: (sql) => holdsFence(sql, TASK),
  claimVideoTask: (sql) => claimVideoTask(sql, ID),
  findVideoSource: (sql) => findVideoSource(sql, TASK),
  findVideoTask: (sql) => findVideoTask(sql, TASK),
  noteProgress: (sql) => noteProgress(sql, { ...TASK, percent: 1 }),
}

describe('a statement reads by an index:', () => {
  let database: TestDatabase
  let sql: Sql
  let statements: string[] = []
  before(async () => {
    database = await createDatabase()
    sql = makeDatabase({
      url: database.url,
      pool: 1,
      name: 'test',
      statementTimeoutMs: 10_000,
      onStatement: ({ text }) => statements.push(text),
    })
  })
  after(async () => {
    await sql.end({ timeout: 1 })
    await database.drop()
  })

  /** Tables that the plan of a statement reads from end to end although nothing is cheaper than an index. */
  const listScanned = async (text: string): Promise<unknown[]> => {
    const [, explained] = await database.sql
      .unsafe(`set local enable_seqscan = off; explain (generic_plan, format json) ${text}`)
      .simple()
    const plan = JSON.stringify(explained)
    return [...plan.matchAll(/"Node Type":"Seq Scan".*?"Relation Name":"(\w+)"/g)].map(
      ([, table]) => table,
    )
  }

  for (const [name, call] of Object.entries(CALLS))
    test(name, async () => {
      statements = []
      await call(sql as Sql & Transaction)
      assert.ok(statements.length > 0)
      for (const text of statements) assert.deepEqual(await listScanned(text), [], text)
    })
})
