import { auditTarget } from '../../platform/domain/audit-log.ts'
import { ADMIN_VERSION_TRANSITIONS } from '../domain/version-transition.ts'
import type { Version, VersionAdminUpdate } from '../domain/version.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import { forgetFailedExtraction } from './extraction.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import type { Transaction } from '../../platform/db/client.ts'
import { findHostNodePolicies, putHostNodePolicies } from './host-node-policy.ts'
import { keepText, keepTexts } from './keep.ts'
import { closeReview, transitionVersion, updateLatestVersion } from './version-transition.ts'
import { recordListChange } from './search/listed-count.ts'
import { pick } from './node-transition.ts'
import type { RecordOptions } from './node.ts'
import type { OutboxStart } from '../../platform/db/outbox.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { lockNodeOfVersion } from './registry-lock.ts'
import { forgetScan } from './scan.ts'
import { getVersion } from './version.ts'

type VersionEditedByAdmin =
  | { result: 'updated'; version: Version }
  | { result: 'illegal_move' }
  | { result: 'host_node_not_found'; name: string }

interface AdminEdit {
  /** Id of a version; one that is Deleted can only be banned. */
  id: string
  fields: VersionAdminUpdate
  audit: Audit
}

/**
 * Sets what a platform admin gives of a version, with its audit entry. The present status is no move; another one must
 * be a legal transition, or nothing changes. A status or a reason closes the open review.
 */
export const updateVersionByAdmin = async (
  sql: Transaction,
  { id, fields, audit }: AdminEdit,
  options: RecordOptions,
): Promise<VersionEditedByAdmin> => {
  const node = await lockNodeOfVersion(sql, id)
  if (!node) throw new Error('a version that is not there')
  const before = await getVersion(sql, id, options)
  const { status = before.status, status_reason: reason, host_node_policies = {} } = fields
  const names = Object.keys(host_node_policies)
  const policies = await findHostNodePolicies(sql, id, names)
  const missing = names.find((name) => !policies.has(name))
  if (missing !== undefined) return { result: 'host_node_not_found', name: missing }
  if (status !== before.status) {
    const name = ADMIN_VERSION_TRANSITIONS[status]
    const transition = name && { id, name, reason, actor: `user:${audit.actor}` }
    if (!transition || !(await transitionVersion(sql, transition)))
      return { result: 'illegal_move' }
  }
  await setAdminFields(sql, id, fields)
  if (fields.status !== undefined || reason) await closeReview(sql, id)
  await updateLatestVersion(sql, node.id)
  await putHostNodePolicies(sql, {
    nodeId: node.id,
    policies: host_node_policies,
    reason: reason || undefined,
  })
  const after = await getVersion(sql, id, options)
  await insertAudit(sql, audit, {
    action: 'version.update',
    target: auditTarget.version(before.node_id, before.version),
    before: pick({ ...before, host_node_policies: Object.fromEntries(policies) }, fields),
    after: pick({ ...after, host_node_policies }, fields),
    reason: reason || undefined,
  })
  await recordListChange(sql)
  return { result: 'updated', version: after }
}

const setAdminFields = async (
  sql: Transaction,
  id: string,
  fields: VersionAdminUpdate,
): Promise<void> => {
  await sql`
    update version
    set ${keepText(sql, 'status_reason', fields.status_reason || undefined)},
      ${keepTexts(sql, 'tags_admin', fields.tags_admin)},
      ${keepTexts(sql, 'supported_os', fields.supported_os)},
      ${keepTexts(sql, 'supported_accelerators', fields.supported_accelerators)},
      ${keepText(sql, 'supported_host_version', fields.supported_host_version)},
      ${keepText(sql, 'supported_host_frontend_version', fields.supported_host_frontend_version)},
      rev = rev + 1
    where id = ${id}
  `
}

interface Retry {
  /** Id of a version that is not Deleted. */
  id: string
  /** Restarts `publish-version/<id>`, which takes up whatever did not succeed. */
  checks: OutboxStart
  /** Restarts `extract-host-nodes/<id>`. */
  extraction: OutboxStart
  audit: Audit
}

/**
 * Starts again what did not succeed: checks that gave up or could not scan the archive to its end, and an extraction
 * that failed. Undefined when nothing failed.
 */
export const retryVersion = async (
  sql: Transaction,
  { id, checks, extraction, audit }: Retry,
  options: RecordOptions & { enqueue: Enqueue },
): Promise<Version | undefined> => {
  const node = await lockNodeOfVersion(sql, id)
  if (!node) throw new Error('a version that is not there')
  const before = await getVersion(sql, id, options)
  const isTransitioned = await transitionVersion(sql, {
    id,
    name: 'retry',
    actor: `user:${audit.actor}`,
  })
  const reopened = await reopenExtraction(sql, id)
  if (!isTransitioned && !reopened) return undefined
  if (isTransitioned) await forgetScan(sql, id)
  if (reopened) await forgetFailedExtraction(sql, id)
  await options.enqueue(isTransitioned ? checks : extraction)
  const after = await getVersion(sql, id, options)
  const changed = { status: 0, status_reason: 0, host_node_extract_status: 0 }
  await insertAudit(sql, audit, {
    action: 'version.retry',
    target: auditTarget.version(before.node_id, before.version),
    before: pick(before, changed),
    after: pick(after, changed),
  })
  await updateLatestVersion(sql, node.id)
  await recordListChange(sql)
  return after
}

/** Only while the archive is there to be read. */
const reopenExtraction = async (sql: Transaction, id: string): Promise<boolean> => {
  const { count } = await sql`
    update version
    set host_node_extract_status = 'pending', extract_reason = null, extract_source = null,
      rev = rev + 1
    where id = ${id} and host_node_extract_status = 'failed'
      and status <> 'NodeVersionStatusDeleted' and archive_state in ('received', 'accepted')
  `
  return count === 1
}
