import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listAudit } from '../../../src/platform/db/audit-log.ts'
import { putHostNodes } from '../../../src/registry/db/host-node.ts'
import { retryVersion, updateVersionByAdmin } from '../../../src/registry/db/version-admin.ts'
import { transitionVersion } from '../../../src/registry/db/version-transition.ts'
import { auditTarget } from '../../../src/platform/domain/audit-log.ts'
import type { VersionAdminUpdate } from '../../../src/registry/domain/version.ts'
import { unitOfWork } from '../../../src/platform/db/unit-of-work.ts'
import { AUDIT, OPTIONS, makeStart, useRegistryPlace } from './registry-place.ts'

const { database, place } = useRegistryPlace()

const setVersion = (id: string, fields: VersionAdminUpdate) =>
  database.sql.begin((sql) => updateVersionByAdmin(sql, { id, fields, audit: AUDIT }, OPTIONS))

describe('a retry', () => {
  const enqueued: string[] = []
  const dispatchNow = ({ workflowId }: { workflowId: string }) => enqueued.push(workflowId)
  const retry = (id: string) =>
    unitOfWork({ sql: database.sql, jobs: { dispatchNow } }, (sql, enqueue) => {
      const checks = { ...makeStart(id), kind: 'restart' as const }
      const extraction = { ...checks, workflowId: `extract-host-nodes/${id}` }
      return retryVersion(sql, { id, checks, extraction, audit: AUDIT }, { ...OPTIONS, enqueue })
    })
  const fail = (versionId: string) => {
    const result = { success: false, reason: 'no_init' } as const
    return database.sql.begin((sql) => putHostNodes(sql, { versionId, source: 'derived', result }))
  }

  test('starts what did not succeed, and nothing else', async () => {
    const id = await place.addVersion({ nodeId: 'retried' })
    await place.receive(id, 'bytes')
    assert.equal(await retry(id), undefined, 'while the checks run')
    await place.transition(id, 'give_up_checks', 'checks could not run (storage)')
    const checks = await retry(id)
    assert.equal(checks?.status_reason, 'archive received, checks are running')
    assert.equal(await retry(id), undefined, 'twice')
    await fail(id)
    const extraction = await retry(id)
    assert.equal(extraction?.host_node_extract_status, 'pending')
    assert.deepEqual(enqueued, [`publish-version/${id}`, `extract-host-nodes/${id}`])
  })

  test('reads a version again that was flagged for an incomplete scan, and no other', async () => {
    const flag = async (nodeId: string, scanIncomplete: boolean): Promise<string> => {
      const id = await place.addVersion({ nodeId })
      await place.receive(id, 'bytes')
      const flagged = { name: 'flag', actor: 'workflow', reason: 'why', scanIncomplete } as const
      await database.sql.begin((sql) => transitionVersion(sql, { id, ...flagged }))
      return id
    }
    assert.equal(await retry(await flag('found', false)), undefined)
    const id = await flag('incomplete', true)
    assert.equal((await retry(id))?.status, 'NodeVersionStatusPending')
  })
})

describe('the audit log', () => {
  test('has no entry of a change that was rejected', async () => {
    const id = await place.addVersion({ nodeId: 'rejected' })
    const rejected = await setVersion(id, { status: 'NodeVersionStatusActive' })
    assert.deepEqual(rejected, { result: 'illegal_move' })
    const target = auditTarget.version('rejected', '1.0.0')
    assert.equal((await listAudit(database.sql, { target, page: 1, pageSize: 10 })).total, 0)
  })

  test('is filtered and paged, newest first', async () => {
    const all = await listAudit(database.sql, { page: 1, pageSize: 100 })
    assert.ok(all.total >= 3, String(all.total))
    const retries = all.entries.filter(({ action }) => action === 'version.retry')
    const found = await listAudit(database.sql, { action: 'version.retry', page: 1, pageSize: 1 })
    assert.deepEqual([found.total, ...found.entries], [retries.length, retries[0]])
    const second = await listAudit(database.sql, { actor: 'root', page: 2, pageSize: 2 })
    assert.deepEqual(second.entries, all.entries.slice(2, 4))
  })
})
