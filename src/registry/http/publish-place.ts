import { withinDeadline } from '../../platform/db/client.ts'
import { errors, shown } from '../../platform/domain/errors.ts'
import type { LiveToken } from '../../identity/db/personal-access-token.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import { findNodeFacts, type NodeFacts } from '../db/node.ts'
import type { Taken } from '../db/publish.ts'
import { nodeCondition, nodeRejection } from '../domain/visibility.ts'
import { getPublisherAccess, makeNodeRejection } from './access.ts'
import type { TokenDeps } from './deps.ts'
import type { OfOwnNode } from './paths.ts'

type PublishPlaceDeps = Pick<TokenDeps, 'sql' | 'publishAuth'>

interface Publishing {
  caller: Caller | undefined
  /** Absent where a member publishes without one. */
  token: Pick<LiveToken, 'isExchanged'> | undefined
}

export interface PublishPlace {
  publisherId: string
  /** As it is stored, or as the path spells a new one. */
  nodeId: string
  isMember: boolean
  /** Absent of a new one. */
  node: NodeFacts | undefined
}

/** Throws the 403 of a token that does not publish, or not this node. While no node is known the scope alone counts. */
export const requirePublishing = (
  { scope, nodeId }: Pick<LiveToken, 'scope' | 'nodeId'>,
  asked?: string,
): void => {
  if (scope !== 'publish') throw errors.tokenScopeInsufficient('is only for reading')
  if (nodeId !== null && asked !== undefined && nodeId.toLowerCase() !== asked.toLowerCase())
    throw errors.tokenScopeInsufficient(`is only for the pack ${shown(nodeId)}`)
}

/** Reads the place of a new version. Throws 404, the 403 of bans, role and another publisher's node, and 409. */
export const getPublishPlace = async (
  deps: PublishPlaceDeps,
  { publisherId, nodeId, caller, token }: OfOwnNode & Publishing,
): Promise<PublishPlace> => {
  const userId = caller?.principal
  const [publisher, node] = await Promise.all([
    getPublisherAccess(deps, { publisherId, access: 'write', caller }),
    withinDeadline(deps.sql, findNodeFacts(deps.sql, { id: nodeId, userId })),
  ])
  const isOwn = node?.publisherId === publisher.id
  if (isOwn) rejectBanned(node)
  if (deps.publishAuth === 'bearer+token' && publisher.role === null && !token?.isExchanged)
    throw errors.roleTooLow('member', null)
  if (node && !isOwn) throw errors.nodeOwnedByOtherPublisher(nodeId)
  const { id, role } = publisher
  return { publisherId: id, nodeId: node?.id ?? nodeId, isMember: role !== null, node }
}

/** Throws 403 for bans. A deleted node is a conflict, which is checked after the role. */
const rejectBanned = (node: NodeFacts): void => {
  const rejection = nodeRejection(nodeCondition(node.status, node.publisherStatus), 'publish')
  if (rejection && rejection !== 'node_deleted') throw makeNodeRejection(rejection, node)
}

/** Makes the 409 of a number that is taken, with what its publisher can do. */
export const makeVersionExists = (
  taken: Taken,
  { nodeId, asked, publicUrl }: { nodeId: string; asked: string; publicUrl: string },
) => {
  const link = `${publicUrl}/nodes/${nodeId}/versions/${encodeURIComponent(taken.version)}`
  return errors.versionExists({ ...taken, asked, advice: adviseTaken(taken, link) })
}

/** Says what a publisher can do whose number is taken. */
const adviseTaken = ({ status, archiveState, isDecided }: Taken, link: string): string => {
  if (status === 'NodeVersionStatusPending')
    return `Read what comes of it at ${link}, or publish a higher number.`
  if (status === 'NodeVersionStatusFlagged' && archiveState === 'accepted')
    return 'Ask for a review of it, or publish a higher number.'
  if (isDecided) return 'A platform admin has decided on it: publish a higher number.'
  return status === 'NodeVersionStatusDeleted'
    ? 'The number of a version whose archive was accepted is never free again: publish a higher one.'
    : 'Publish a higher number.'
}
