import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listAudit } from '../../src/db/registry/audit-log.ts'
import { putHostNodes } from '../../src/db/registry/host-node.ts'
import { updateNodeByAdmin } from '../../src/db/registry/node-move.ts'
import { findNodeFacts, getNode, insertNode, updateNode } from '../../src/db/registry/node.ts'
import { insertReview, listReviews } from '../../src/db/registry/review.ts'
import { retryVersion, updateVersionByAdmin } from '../../src/db/registry/version-admin.ts'
import { listVersions } from '../../src/db/search/version-list.ts'
import { moveVersion } from '../../src/db/registry/version-move.ts'
import { auditTarget } from '../../src/domain/registry/audit-log.ts'
import type { NodeAdminUpdate } from '../../src/domain/registry/node.ts'
import type { Version, VersionAdminUpdate } from '../../src/domain/registry/version.ts'
import { unitOfWork } from '../../src/db/unit-of-work.ts'
import { AUDIT, OPTIONS, makeStart, parseEntries, useRegistryPlace } from './registry-place.ts'

const { database, place } = useRegistryPlace()

const setNode = (id: string, fields: NodeAdminUpdate) =>
  database.sql.begin((sql) => updateNodeByAdmin(sql, { id, fields, audit: AUDIT }, OPTIONS))
const setVersion = (id: string, fields: VersionAdminUpdate) =>
  database.sql.begin((sql) => updateVersionByAdmin(sql, { id, fields, audit: AUDIT }, OPTIONS))
describe('a node', () => {
  test('is created once, whatever the case of its id', async () => {
    await place.addNode('Case-Of.Ids')
    const create = (id: string) =>
      database.sql.begin((sql) => insertNode(sql, { publisherId: 'pub', node: { id } }, OPTIONS))
    assert.deepEqual(await create('cAsE-oF.iDs'), { result: 'node_exists' })
    const all = await Promise.all(['Many', 'many', 'MANY', 'mAny'].map(create))
    assert.equal(all.filter(({ result }) => result === 'created').length, 1)
    assert.equal((await getNode(database.sql, 'CASE-OF.IDS', OPTIONS)).id, 'Case-Of.Ids')
  })

  test('keeps what an update does not name, and clears what it leaves empty', async () => {
    await place.addNode('edited', {
      description: 'kept',
      icon: 'https://x.org/i.png',
      tags: ['a', 'b'],
      translations: { de: { name: 'Ton' } },
    })
    const edit = (fields: object, ifRev?: number) =>
      database.sql.begin((sql) =>
        updateNode(sql, { publisherId: 'pub', id: 'EDITED', fields, ifRev }, OPTIONS),
      )
    const rev = (await findNodeFacts(database.sql, { id: 'edited', userId: 'olga' }))?.rev
    const edited = await edit({ name: 'Edited', icon: '', tags: [], translations: {} }, rev)
    assert.ok(edited.result === 'updated', edited.result)
    const { name, description, tags } = edited.node
    assert.deepEqual({ name, description, tags }, { name: 'Edited', description: 'kept', tags: [] })
    assert.ok(!('icon' in edited.node) && !('translations' in edited.node), 'cleared')
    assert.deepEqual(await edit({ name: 'x' }, rev), { result: 'precondition_failed' })
  })
})

describe('a review', () => {
  const ask = (versionId: string) =>
    database.sql.begin((sql) =>
      insertReview(sql, { versionId, note: 'it is a false alarm', userId: 'olga' }),
    )

  test('is asked for once while a version is flagged, and closed by a decision', async () => {
    const id = await place.addActive({ nodeId: 'reviewed' })
    assert.deepEqual(await ask(id), { result: 'version_not_flagged' })
    await place.move(id, 'admin_flag', 'odd')
    const results = (await Promise.all([ask(id), ask(id)])).map(({ result }) => result)
    assert.deepEqual(results.toSorted(), ['created', 'review_already_requested'])
    const listOpen = async (reviewRequested: boolean) =>
      parseEntries<Version>(
        (
          await listVersions(
            database.sql,
            { filter: { reviewRequested }, offset: 0, limit: 100 },
            OPTIONS,
          )
        ).versions,
      ).map((version) => version.id)
    assert.deepEqual(await listOpen(true), [id])
    assert.ok(!(await listOpen(false)).includes(id), 'not without one')
    await setVersion(id, { status_reason: 'it is none' })
    assert.deepEqual(await listOpen(true), [])
    assert.equal((await ask(id)).result, 'created')
    await setVersion(id, { status: 'NodeVersionStatusActive', status_reason: 'fine' })
    const reviews = await listReviews(database.sql, id)
    assert.equal(reviews.length, 2)
    assert.ok(
      reviews.every(({ closed_at, by }) => closed_at && by === 'olga'),
      'both closed',
    )
  })
})

describe('a retry', () => {
  const told: string[] = []
  const kick = ({ workflowId }: { workflowId: string }) => told.push(workflowId)
  const retry = (id: string) =>
    unitOfWork({ sql: database.sql, jobs: { kick } }, (sql, tell) =>
      retryVersion(
        sql,
        {
          id,
          checks: { ...makeStart(id), kind: 'restart' },
          extraction: { ...makeStart(id, 'extract-host-nodes'), kind: 'restart' },
          audit: AUDIT,
        },
        { ...OPTIONS, tell },
      ),
    )
  const fail = (versionId: string) =>
    database.sql.begin((sql) =>
      putHostNodes(sql, {
        versionId,
        source: 'derived',
        result: { success: false, reason: 'no_init' },
      }),
    )

  test('starts what did not succeed, and nothing else', async () => {
    const id = await place.addVersion({ nodeId: 'retried' })
    await place.receive(id, 'bytes')
    assert.equal(await retry(id), undefined, 'while the checks run')
    await place.move(id, 'give_up_checks', 'checks could not run (storage); an operator can retry')
    const checks = await retry(id)
    assert.equal(checks?.status_reason, 'archive received, checks are running')
    assert.equal(await retry(id), undefined, 'twice')
    await fail(id)
    const extraction = await retry(id)
    assert.equal(extraction?.host_node_extract_status, 'pending')
    assert.deepEqual(told, [`publish-version/${id}`, `extract-host-nodes/${id}`])
  })

  test('reads a version again that was flagged for an incomplete scan, and no other', async () => {
    const flag = async (nodeId: string, scanIncomplete: boolean): Promise<string> => {
      const id = await place.addVersion({ nodeId })
      await place.receive(id, 'bytes')
      await database.sql.begin((sql) =>
        moveVersion(sql, { id, name: 'flag', actor: 'workflow', reason: 'why', scanIncomplete }),
      )
      return id
    }
    assert.equal(await retry(await flag('found', false)), undefined)
    const id = await flag('incomplete', true)
    assert.equal((await retry(id))?.status, 'NodeVersionStatusPending')
  })
})

describe('the audit log', () => {
  test('tells who changed what, and from what to what', async () => {
    await place.addNode('audited')
    await setNode('audited', { search_ranking: 2, github_stars: 7 })
    const { entries, total } = await listAudit(database.sql, {
      target: auditTarget.node('audited'),
      page: 1,
      pageSize: 10,
    })
    assert.equal(total, 1)
    const [entry] = entries
    assert.ok(entry, 'an entry')
    const { id: _id, at, ...rest } = entry
    assert.match(at, /Z$/)
    assert.deepEqual(rest, {
      actor: 'root',
      action: 'node.update',
      target: auditTarget.node('audited'),
      before: { search_ranking: 5, github_stars: 0 },
      after: { search_ranking: 2, github_stars: 7 },
      request_id: 'request-1',
    })
  })

  test('has no entry of a change that was refused', async () => {
    const id = await place.addVersion({ nodeId: 'refused' })
    const refused = await setVersion(id, { status: 'NodeVersionStatusActive' })
    assert.deepEqual(refused, { result: 'illegal_move' })
    const { total } = await listAudit(database.sql, {
      target: auditTarget.version('refused', '1.0.0'),
      page: 1,
      pageSize: 10,
    })
    assert.equal(total, 0)
  })

  test('is filtered and paged, newest first', async () => {
    const all = await listAudit(database.sql, { page: 1, pageSize: 100 })
    assert.ok(all.total > 5, String(all.total))
    const retries = all.entries.filter(({ action }) => action === 'version.retry')
    const found = await listAudit(database.sql, { action: 'version.retry', page: 1, pageSize: 1 })
    assert.deepEqual([found.total, ...found.entries], [retries.length, retries[0]])
    const second = await listAudit(database.sql, { actor: 'root', page: 2, pageSize: 3 })
    assert.deepEqual(second.entries, all.entries.slice(3, 6))
  })
})
