import { withinDeadline } from '../../db/client.ts'
import { findNodeAccess } from '../../db/registry/node.ts'
import type { NodeAccess as NodeFacts } from '../../db/registry/node.ts'
import { findPublisherAccess } from '../../db/registry/publisher.ts'
import type { PublisherAccess } from '../../db/registry/publisher.ts'
import { findVersionAccess } from '../../db/registry/version.ts'
import type { VersionAccess as VersionFacts, VersionKey } from '../../db/registry/version.ts'
import { apiError, errors } from '../../domain/shared/errors.ts'
import type { ErrorCodeName } from '../../domain/shared/errors.ts'
import type { MemberRole } from '../../domain/registry/member.ts'
import { mayDo, roleFor } from '../../domain/registry/role.ts'
import type { PublisherAction } from '../../domain/registry/role.ts'
import { isUuid } from '../../domain/shared/uuid.ts'
import { parseVersionNumber } from '../../domain/registry/version-number.ts'
import {
  nodeCondition,
  nodeRefusal,
  publisherRefusal,
  versionRefusal,
} from '../../domain/registry/visibility.ts'
import type { NodeAccess, VersionAccess } from '../../domain/registry/visibility.ts'
import type { Caller } from '../access/auth.ts'
import type { RegistryDeps } from './deps.ts'

/** What a path names, and who asks for it. In all that follows existence is judged first, then bans, then the role. */
interface Asked {
  caller: Caller | undefined
}

type Deps = Pick<RegistryDeps, 'sql'>

/** The publisher in a path. Throws its 404 and 403. */
export const getPublisherAccess = async (
  { sql }: Deps,
  {
    publisherId,
    access,
    action,
    caller,
  }: Asked & { publisherId: string; access: 'read' | 'write'; action?: PublisherAction },
): Promise<PublisherAccess> => {
  const found = await withinDeadline(
    findPublisherAccess(sql, { id: publisherId, userId: caller?.principal }),
  )
  if (!found) throw errors.publisherNotFound(publisherId)
  if (publisherRefusal(found.status, access, viewer(caller)))
    throw errors.publisherBanned(found.id, forMembers(found.role, found.reason))
  requireRole(found.role, action)
  return found
}

/** The node in a path that everybody reads. Throws its 404 and 403. */
export const getNodeAccess = async (
  { sql }: Deps,
  { nodeId, access, caller }: Asked & { nodeId: string; access: NodeAccess },
): Promise<NodeFacts> => {
  const found = await withinDeadline(findNodeAccess(sql, { id: nodeId, userId: caller?.principal }))
  if (!found) throw errors.nodeNotFound(nodeId)
  refuseNode(found, access, caller)
  return found
}

/** The node in a path of its publisher. Throws 404 also for one of another publisher's, and the 403 of bans and role. */
export const getOwnNodeAccess = async (
  { sql }: Deps,
  {
    publisherId,
    nodeId,
    action,
    caller,
  }: Asked & { publisherId: string; nodeId: string; action: PublisherAction },
): Promise<NodeFacts> => {
  const userId = caller?.principal
  const [publisher, node] = await withinDeadline(
    Promise.all([
      findPublisherAccess(sql, { id: publisherId, userId }),
      findNodeAccess(sql, { id: nodeId, userId }),
    ]),
  )
  if (!publisher) throw errors.publisherNotFound(publisherId)
  if (node?.publisherId !== publisher.id) throw errors.nodeNotFound(nodeId)
  refuseNode(node, 'write', caller)
  requireRole(node.role, action)
  return node
}

/** The version in a path that everybody reads; a malformed one is none. Throws the 404 and 403 of node and version. */
export const getVersionAccess = async (
  { sql }: Deps,
  {
    nodeId,
    version,
    access,
    caller,
  }: Asked & { nodeId: string; version: string; access: VersionAccess },
): Promise<VersionFacts> => {
  const number = parseVersionNumber(version)
  const found =
    number &&
    (await withinDeadline(
      findVersionAccess(sql, {
        nodeId,
        key: { canonical: number.canonical },
        userId: caller?.principal,
      }),
    ))
  const nodeAccess = access === 'archive' ? 'install' : access
  if (!found) {
    await getNodeAccess({ sql }, { nodeId, access: nodeAccess, caller })
    throw errors.versionNotFound(nodeId, version)
  }
  refuseNode(found.node, nodeAccess, caller)
  const refusal = versionRefusal(found.status, access)
  if (refusal) throw makeVersionRefusal(refusal, found)
  return found
}

/** The version whose id is in a path of its node's publisher. Throws 404 for any other, and 403 as its node does. */
export const getOwnVersionAccess = async (
  { sql }: Deps,
  asked: Asked & {
    publisherId: string
    nodeId: string
    versionId: string
    action: PublisherAction
  },
): Promise<VersionFacts> => {
  const { publisherId, nodeId, versionId, action, caller } = asked
  const key: VersionKey = { id: versionId.toLowerCase() }
  const [publisher, node, version] = await withinDeadline(
    Promise.all([
      findPublisherAccess(sql, { id: publisherId, userId: caller?.principal }),
      findNodeAccess(sql, { id: nodeId, userId: caller?.principal }),
      isUuid(versionId)
        ? findVersionAccess(sql, { nodeId, key, userId: caller?.principal })
        : undefined,
    ]),
  )
  if (!publisher) throw errors.publisherNotFound(publisherId)
  if (node?.publisherId !== publisher.id || node.status === 'NodeStatusDeleted')
    throw errors.nodeNotFound(nodeId)
  if (!version || versionRefusal(version.status, 'write'))
    throw errors.versionNotFound(nodeId, versionId)
  refuseNode(node, 'write', caller)
  requireRole(node.role, action)
  return version
}

/** Who acts through /admin. Throws 403 for anybody else. */
export const requirePlatformAdmin = (caller: Caller): Caller => {
  if (!caller.isPlatformAdmin)
    throw apiError('forbidden', 'This is for platform admins (ADMIN_SUBJECTS, ADMIN_CLAIM).')
  return caller
}

const viewer = (caller: Caller | undefined) => ({
  isPlatformAdmin: caller?.isPlatformAdmin ?? false,
})

/** Members are told why. */
const forMembers = (role: MemberRole | null, reason: string | null): string | undefined =>
  role === null ? undefined : (reason ?? undefined)

const requireRole = (role: MemberRole | null, action: PublisherAction | undefined): void => {
  if (action && !mayDo(role ?? undefined, action)) throw errors.roleTooLow(roleFor(action))
}

const refuseNode = (node: NodeFacts, access: NodeAccess, caller: Caller | undefined): void => {
  const condition = nodeCondition(node.status, node.publisherStatus)
  const refusal = nodeRefusal(condition, access, viewer(caller))
  if (refusal) throw makeNodeRefusal(refusal, node)
}

export const makeNodeRefusal = (code: ErrorCodeName, node: NodeFacts) => {
  const { id, role, detail, publisherId, publisherReason } = node
  if (code === 'node_banned') return errors.nodeBanned(id, forMembers(role, detail))
  if (code === 'publisher_banned')
    return errors.publisherBanned(publisherId, forMembers(role, publisherReason))
  return code === 'node_deleted' ? errors.nodeDeleted(id) : errors.nodeNotFound(id)
}

const makeVersionRefusal = (code: ErrorCodeName, { node, version, reason }: VersionFacts) => {
  if (code === 'version_blocked') return errors.versionBlocked(version, reason)
  if (code === 'version_not_installable') return errors.versionNotInstallable(node.id, version)
  return code === 'archive_not_found'
    ? errors.archiveNotFound()
    : errors.versionNotFound(node.id, version)
}
