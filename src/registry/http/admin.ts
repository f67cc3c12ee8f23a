import { readAddress } from '../../platform/adapters/network-of.ts'
import { listAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { listSameContent } from '../db/content.ts'
import { updateHostNodePolicy } from '../db/host-node-policy.ts'
import { updateNodeByAdmin } from '../db/node-transition.ts'
import { findNodeFacts } from '../db/node.ts'
import type { NodeFacts } from '../db/node.ts'
import { transitionPublisher } from '../db/publisher-ban.ts'
import { existsPublisher, getPublisher } from '../db/publisher.ts'
import { retryVersion, updateVersionByAdmin } from '../db/version-admin.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { validateSamePublisher } from '../domain/admin-validation.ts'
import type { AuditLogQuery } from '../../platform/domain/audit-log.ts'
import { errors, shown } from '../../platform/domain/errors.ts'
import type { HostNodePolicyUpdate } from '../domain/host-node.ts'
import { listPossibleNodeStatuses } from '../domain/node-transition.ts'
import type { NodeAdminUpdate } from '../domain/node.ts'
import { totalPages } from '../../platform/domain/schema-fields.ts'
import { listPossibleStatuses } from '../domain/version-transition.ts'
import type { ArchiveState, VersionAdminUpdate, VersionStatus } from '../domain/version.ts'
import { endOpen } from '../../platform/temporal/start.ts'
import { readBounds } from '../../platform/domain/time-bounds.ts'
import { startExtraction, startPublishVersion } from '../temporal/version.ts'
import { makeAudit } from '../../identity/http/access/audit.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { demandedRev } from '../../platform/http/serve/etag.ts'
import { validationError } from '../../platform/domain/validation-error.ts'
import { getAnyVersion, getOwnNodeAccess, getVersionAccess } from './access.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'
import type { CheckDeps, RecordDeps, RegistryDeps } from './deps.ts'
import type { OfNode, OfNodeHostNode, OfOwnNode, OfPublisher, OfVersion } from './paths.ts'
import { showPublisher } from './publisher.ts'
import { withWarnings } from './warn.ts'

/** Sets what only a platform admin may set of a node, in any status. */
export const editNodeByAdmin = async (
  deps: RegistryDeps,
  request: RouteRequest<OfNode, unknown, NodeAdminUpdate>,
): Promise<JsonResponse> => {
  const audit = makeAudit(request)
  const { nodeId } = request.params
  const node = await withinDeadline(
    deps.sql,
    findNodeFacts(deps.sql, { id: nodeId, userId: undefined }),
  )
  if (!node) throw errors.nodeNotFound(nodeId)
  return await putNode(deps, { node, body: request.body, audit })
}

/** The same by the path of its publisher, where it also obeys If-Match. */
export const editOwnNodeByAdmin = async (
  deps: RegistryDeps,
  request: RouteRequest<OfOwnNode, unknown, NodeAdminUpdate>,
): Promise<JsonResponse> => {
  const audit = makeAudit(request)
  const { params, body, headers, caller } = request
  const node = await getOwnNodeAccess(deps, { ...params, access: 'read', caller })
  const ifRev = demandedRev(headers['if-match'], node.rev)
  return await putNode(deps, { node, body, ifRev, audit })
}

interface NodePut {
  node: NodeFacts
  body: NodeAdminUpdate
  ifRev?: number | undefined
  audit: Audit
}

const putNode = async (
  deps: RegistryDeps,
  { node, body, ifRev, audit }: NodePut,
): Promise<JsonResponse> => {
  const { id: _same, publisher, force = false, ...fields } = body
  const issue = validateSamePublisher(publisher?.id, node.publisherId)
  if (issue) throw validationError([issue], { query: {}, body })
  return await unitOfWork(deps, async (sql) => {
    const done = await updateNodeByAdmin(sql, { id: node.id, fields, force, ifRev, audit }, deps)
    if (done.result === 'updated') {
      const body = withWarnings(deps, fields, done.node)
      if (done.node.status === node.status) return { status: 200, body }
      const same_content = await listSameContent(sql, { nodeId: node.id })
      return { status: 200, body: { ...body, same_content } }
    }
    if (done.result === 'precondition_failed') throw errors.preconditionFailed()
    if (done.result === 'preempted') throw errors.hostNodePreempted(done.name, done.nodeId)
    throw done.result === 'illegal_move'
      ? errors.illegalTransition(
          node.status,
          fields.status ?? node.status,
          listPossibleNodeStatuses(node.status),
        )
      : errors.nodeNotFound(node.id)
  })
}

/**
 * Sets what only a platform admin may set of a version. A rejection is thrown inside the transaction, so that it changes
 * nothing.
 */
export const editVersionByAdmin = async (
  deps: RegistryDeps,
  request: RouteRequest<OfVersion, unknown, VersionAdminUpdate>,
): Promise<JsonResponse> => {
  const audit = makeAudit(request)
  const { params, body: fields, caller } = request
  const { id, status, archiveState } =
    fields.status === 'NodeVersionStatusBanned'
      ? await getAnyVersion(deps, { ...params, caller })
      : await getVersionAccess(deps, { ...params, access: 'read', caller })
  return await unitOfWork(deps, async (sql) => {
    const done = await updateVersionByAdmin(sql, { id, fields, audit }, deps)
    if (done.result === 'updated') {
      const same = fields.status && { same_content: await listSameContent(sql, { versionId: id }) }
      return { status: 200, body: { ...done.version, ...same } }
    }
    throw done.result === 'illegal_move'
      ? errors.illegalTransition(
          status,
          fields.status ?? status,
          listPossibleStatuses(status, archiveState),
          whyNot(fields.status, archiveState),
        )
      : errors.hostNodeNotFound(done.name)
  })
}

/** The condition of a status beside the one before. */
const whyNot = (to: VersionStatus | undefined, archiveState: ArchiveState): string => {
  if (to === 'NodeVersionStatusPending') return ' but by a retry'
  return to === 'NodeVersionStatusActive' && archiveState !== 'accepted'
    ? ', because no archive of it was accepted'
    : ''
}

/** Sets the policy of a host node name for all versions of a node, also for versions still to come. */
export const editHostNodePolicy = async (
  deps: RegistryDeps,
  request: RouteRequest<OfNodeHostNode, unknown, HostNodePolicyUpdate>,
): Promise<JsonResponse> => {
  const audit = makeAudit(request)
  const { nodeId, hostNodeName: name } = request.params
  const { policy, reason } = request.body
  const fields = { policy, ...(reason && { reason }) }
  return await unitOfWork(deps, async (sql) => {
    const body = await updateHostNodePolicy(sql, { nodeId, name, fields, audit })
    if (!body) throw errors.nodeNotFound(nodeId)
    if (body.versions > 0) return { status: 200, body }
    const warning = `No version of the pack has the host node ${shown(name)} now: the policy waits for one. Names are compared exactly.`
    return { status: 200, body: { ...body, warnings: [warning] } }
  })
}

/** Starts again what did not succeed: the workflow of the version takes up its checks, its extraction, or both. */
export const retryVersionByAdmin = async (
  deps: CheckDeps,
  request: RouteRequest<OfVersion>,
): Promise<SavedResponse> => {
  const audit = makeAudit(request)
  const { params, caller } = request
  const found = await getVersionAccess(deps, { ...params, access: 'read', caller })
  const { id, version, status, reason } = found
  const { id: nodeId, publisherId } = found.node
  const summary = `check ${nodeId}@${version} again`
  const facts = { versionId: id, nodeId, version, publisherId, owner: audit.actor, summary }
  return await unitOfWork(deps, async (sql, enqueue) => {
    const retry = {
      id,
      checks: endOpen(startPublishVersion(facts, deps)),
      extraction: endOpen(startExtraction(facts, deps)),
      audit,
    }
    const version = await retryVersion(sql, retry, { ...deps, enqueue })
    if (!version) throw errors.nothingToRetry(status, reason)
    const response = { status: 200, body: version }
    return await request.saveIdempotentResponse(sql, response)
  })
}

/** Makes the handler that bans a publisher, or lifts the ban; a repeat changes nothing. */
export const makePublisherTransition =
  (deps: CommitDeps & RecordDeps, name: 'ban' | 'unban') =>
  async (
    request: RouteRequest<OfPublisher, unknown, { reason?: string }>,
  ): Promise<SavedResponse> => {
    const audit = makeAudit(request)
    const { publisherId: id } = request.params
    const { reason } = request.body
    if (!(await withinDeadline(deps.sql, existsPublisher(deps.sql, id))))
      throw errors.publisherNotFound(id)
    return await unitOfWork(deps, async (sql) => {
      await transitionPublisher(sql, { id, name, reason: reason || undefined, audit })
      const publisher = await getPublisher(sql, id, deps)
      const isMember = publisher.members.some(({ user }) => user.id === audit.actor)
      const same_content = await listSameContent(sql, { publisherId: publisher.id })
      const response = {
        status: 200,
        body: { ...showPublisher(publisher, isMember), same_content },
      }
      return await request.saveIdempotentResponse(sql, response)
    })
  }

/** Returns a page of all changes, newest first. */
export const readAuditLog = async (
  { sql }: ReadDeps,
  request: RouteRequest<unknown, AuditLogQuery>,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  const { page, pageSize, actor, action, target, address } = request.query
  const { from: since, to: until } = readBounds(request.query)
  const filter = {
    actor,
    action,
    target,
    since,
    until,
    address: readAddress(address),
    page,
    pageSize,
  }
  const { entries, total } = await withinDeadline(sql, listAudit(sql, filter))
  const pages = totalPages(total, pageSize)
  return { status: 200, body: { page, pageSize, total, totalPages: pages, entries } }
}
