import { withinDeadline } from '../../platform/db/client.ts'
import { findNodeFacts } from '../db/node.ts'
import type { NodeFacts } from '../db/node.ts'
import { existsPublisher, findPublisherFacts } from '../db/publisher.ts'
import type { PublisherFacts } from '../db/publisher.ts'
import { wasOfPublisher } from '../db/transfer.ts'
import { findVersionFacts } from '../db/version.ts'
import type { VersionFacts, VersionKey } from '../db/version.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import type { ErrorCodeName } from '../../platform/domain/errors.ts'
import type { MemberRole } from '../domain/member.ts'
import { mayDo, roleFor } from '../domain/role.ts'
import type { PublisherAction } from '../domain/role.ts'
import type { NodeStatus } from '../domain/node.ts'
import type { VersionStatus } from '../domain/version.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import {
  nodeCondition,
  nodeRejection,
  publisherRejection,
  versionRejection,
} from '../domain/visibility.ts'
import type { NodeAccess, VersionAccess } from '../domain/visibility.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'

/** Caller of a request. Everything below checks existence first, then bans, then the role. */
interface Asked {
  caller: Caller | undefined
}

/** The publisher in a path. Throws its 404 and 403. */
export const getPublisherAccess = async (
  { sql }: ReadDeps,
  {
    publisherId,
    access,
    action,
    caller,
  }: Asked & { publisherId: string; access: 'read' | 'write'; action?: PublisherAction },
): Promise<PublisherFacts> => {
  const found = await withinDeadline(
    sql,
    findPublisherFacts(sql, { id: publisherId, userId: caller?.principal }),
  )
  if (!found) throw errors.publisherNotFound(publisherId)
  if (publisherRejection(found.status, access, viewer(caller)))
    throw errors.publisherBanned(found.id, forMembers(found.role, found.reason))
  requireRole(found.role, action)
  return found
}

/** The node in a path that everybody reads. Throws its 404 and 403. */
export const getNodeAccess = async (
  { sql }: ReadDeps,
  { nodeId, access, caller }: Asked & { nodeId: string; access: NodeAccess },
): Promise<NodeFacts> => {
  const found = await withinDeadline(
    sql,
    findNodeFacts(sql, { id: nodeId, userId: caller?.principal }),
  )
  if (!found) throw errors.nodeNotFound(nodeId)
  rejectNode(found, access, caller)
  return found
}

/**
 * Rejects a status other than the present one, which nobody may believe to have set. Clients send records back as they
 * read them, so the present one is ignored like what other members of admins hold.
 */
export const requireSameStatus = (
  given: unknown,
  present: NodeStatus | VersionStatus,
  { of, way }: { of: typeof NodeStatus | typeof VersionStatus; way: string },
): void => {
  if (given === present || !of.enum.some((one) => one === given)) return
  throw apiError(
    'forbidden',
    `/status must be absent or ${present}, because platform admins alone set it (${way}); owners of the publisher can only DELETE (got ${shown(given)}).`,
  )
}

/** The node in a path of its publisher. Throws 404 also for one of another publisher's, and the 403 of bans and role. */
export const getOwnNodeAccess = async (
  { sql }: ReadDeps,
  {
    publisherId,
    nodeId,
    access = 'write',
    action,
    caller,
  }: Asked & {
    publisherId: string
    nodeId: string
    access?: NodeAccess
    action?: PublisherAction
  },
): Promise<NodeFacts> => {
  const userId = caller?.principal
  const [publisher, node] = await withinDeadline(
    sql,
    Promise.all([
      findPublisherFacts(sql, { id: publisherId, userId }),
      findNodeFacts(sql, { id: nodeId, userId }),
    ]),
  )
  if (!publisher) throw errors.publisherNotFound(publisherId)
  if (node?.publisherId !== publisher.id) throw errors.nodeNotFound(nodeId, publisher.id)
  rejectNode(node, access, caller)
  requireRole(node.role, action)
  return node
}

/** The version in a path that everybody reads; a malformed one is none. Throws the 404 and 403 of node and version. */
export const getVersionAccess = async (
  { sql }: ReadDeps,
  {
    access,
    ...asked
  }: Asked & { nodeId: string; version: string; access: Exclude<VersionAccess, 'archive'> },
): Promise<VersionFacts> => {
  const found = await getAnyVersion({ sql }, { access, ...asked })
  rejectNode(found.node, access, asked.caller)
  rejectVersion(found, access)
  return found
}

/** The same in any status of node and version, for platform admins, who also ban what was withdrawn. */
export const getAnyVersion = async (
  { sql }: ReadDeps,
  { access = 'read', ...asked }: Asked & { nodeId: string; version: string; access?: NodeAccess },
): Promise<VersionFacts> => {
  const found = await findVersion(sql, asked)
  if (found) return found
  await getNodeAccess({ sql }, { ...asked, access })
  throw errors.versionNotFound(asked.nodeId, asked.version)
}

/** The same where its files are asked for: only members and platform admins get files of versions not Active. */
export const getFilesAccess = async (
  deps: ReadDeps,
  asked: Asked & { nodeId: string; version: string },
): Promise<VersionFacts> => {
  const found = await getVersionAccess(deps, { ...asked, access: 'read' })
  if (found.node.role === null && !asked.caller?.isPlatformAdmin) rejectVersion(found, 'archive')
  return found
}

/**
 * The version whose archive a path names, and whether only its caller gets it: platform admins get archives of Flagged
 * and Banned versions, members of their own Flagged ones. Throws the 404 of publisher, node and version, then the 403.
 */
export const getArchiveAccess = async (
  { sql }: ReadDeps,
  path: Asked & { publisherId: string; nodeId: string; version: string },
): Promise<VersionFacts & { isRestricted: boolean }> => {
  const { publisherId, nodeId, version, caller } = path
  const isOwn = (node: NodeFacts): boolean => node.publisherId === publisherId.toLowerCase()
  const found = await findVersion(sql, path)
  if (!found || !isOwn(found.node)) {
    const [isPublisher, node] = await withinDeadline(
      sql,
      Promise.all([
        existsPublisher(sql, publisherId),
        findNodeFacts(sql, { id: nodeId, userId: undefined }),
      ]),
    )
    if (!isPublisher) throw errors.publisherNotFound(publisherId)
    if (!node || node.status === 'NodeStatusDeleted') throw errors.nodeNotFound(nodeId, publisherId)
    if (isOwn(node)) throw errors.versionNotFound(nodeId, version)
    if (await withinDeadline(sql, wasOfPublisher(sql, { nodeId: node.id, publisherId })))
      return await getArchiveAccess({ sql }, { ...path, publisherId: node.publisherId })
    throw errors.nodeNotFound(nodeId, publisherId)
  }
  const isAdmin = caller?.isPlatformAdmin ?? false
  rejectNode(found.node, isAdmin ? 'read' : 'install', caller)
  const isFlagged = found.status === 'NodeVersionStatusFlagged'
  const mayHave = isAdmin
    ? isFlagged || found.status === 'NodeVersionStatusBanned'
    : isFlagged && found.node.role !== null
  if (!mayHave) rejectVersion(found, 'archive')
  const condition = nodeCondition(found.node.status, found.node.publisherStatus)
  return { ...found, isRestricted: mayHave || condition !== 'active' }
}

const findVersion = async (
  sql: ReadDeps['sql'],
  { nodeId, version, caller }: Asked & { nodeId: string; version: string },
): Promise<VersionFacts | undefined> => {
  const key = versionKey(version)
  return (
    key &&
    (await withinDeadline(sql, findVersionFacts(sql, { nodeId, key, userId: caller?.principal })))
  )
}

/** A version by its id or its number: people take the one for the other. Undefined for what is neither. */
const versionKey = (text: string): VersionKey | undefined => {
  if (isUuid(text)) return { id: text.toLowerCase() }
  const canonical = parseVersionNumber(text)?.canonical
  return canonical === undefined ? undefined : { canonical }
}

/** The version whose id, or number, is in a path of its node's publisher. Throws 404 for any other, and 403 as its node does. */
export const getOwnVersionAccess = async (
  { sql }: ReadDeps,
  asked: Asked & {
    publisherId: string
    nodeId: string
    versionId: string
    action: PublisherAction
  },
): Promise<VersionFacts> => {
  const { publisherId, nodeId, versionId, action, caller } = asked
  const key = versionKey(versionId)
  const [publisher, node, version] = await withinDeadline(
    sql,
    Promise.all([
      findPublisherFacts(sql, { id: publisherId, userId: caller?.principal }),
      findNodeFacts(sql, { id: nodeId, userId: caller?.principal }),
      key && findVersionFacts(sql, { nodeId, key, userId: caller?.principal }),
    ]),
  )
  if (!publisher) throw errors.publisherNotFound(publisherId)
  if (node?.publisherId !== publisher.id || node.status === 'NodeStatusDeleted')
    throw errors.nodeNotFound(nodeId, publisher.id)
  if (!version || versionRejection(version.status, 'write'))
    throw errors.versionNotFound(nodeId, versionId)
  rejectNode(node, 'write', caller)
  requireRole(node.role, action)
  return version
}

/** Throws the 403 of a personal access token that is for another publisher or node. */
export const requireTokenOf = (node: NodeFacts, caller: Caller | undefined): void => {
  const { publisherId, nodeId } = caller?.token ?? {}
  if (publisherId !== undefined && publisherId !== node.publisherId)
    throw errors.tokenScopeInsufficient('is one of another publisher')
  // In small letters where the token is older than the node.
  if (nodeId !== undefined && nodeId !== null && nodeId.toLowerCase() !== node.id.toLowerCase())
    throw errors.tokenScopeInsufficient(`is only for the pack ${shown(nodeId)}`)
}

const viewer = (caller: Caller | undefined) => ({
  isPlatformAdmin: caller?.isPlatformAdmin ?? false,
})

/** Returns the reason to members alone. */
const forMembers = (role: MemberRole | null, reason: string | null): string | undefined =>
  role === null ? undefined : (reason ?? undefined)

const requireRole = (role: MemberRole | null, action: PublisherAction | undefined): void => {
  if (action && !mayDo(role ?? undefined, action)) throw errors.roleTooLow(roleFor(action), role)
}

const rejectNode = (node: NodeFacts, access: NodeAccess, caller: Caller | undefined): void => {
  const condition = nodeCondition(node.status, node.publisherStatus)
  const rejection = nodeRejection(condition, access, viewer(caller))
  if (rejection) throw makeNodeRejection(rejection, node)
}

export const makeNodeRejection = (code: ErrorCodeName, node: NodeFacts) => {
  const { id, role, detail, publisherId, publisherReason } = node
  if (code === 'node_banned') return errors.nodeBanned(id, forMembers(role, detail))
  if (code === 'publisher_banned')
    return errors.publisherBanned(publisherId, forMembers(role, publisherReason))
  return code === 'node_deleted' ? errors.nodeDeleted(id) : errors.nodeNotFound(id)
}

const rejectVersion = ({ node, version, status, reason }: VersionFacts, access: VersionAccess) => {
  const code = versionRejection(status, access)
  if (code === undefined) return
  // The reason of a deletion is for nobody: to all who read the version it is not there.
  const seen = status === 'NodeVersionStatusDeleted' ? undefined : reason
  if (code === 'version_blocked') throw errors.versionBlocked(version, status, reason)
  if (code === 'version_not_installable')
    throw errors.versionNotInstallable(node.id, { version, reason: seen })
  throw code === 'archive_not_found'
    ? errors.archiveNotFound(version, seen)
    : errors.versionNotFound(node.id, version)
}
