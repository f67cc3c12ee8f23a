import { withinDeadline } from '../../platform/db/client.ts'
import { errors } from '../../platform/domain/errors.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import { findNodeFacts } from '../db/node.ts'
import type { NodePlace } from '../db/trusted-publisher.ts'
import type { NodeAccess } from '../domain/visibility.ts'
import { getOwnNodeAccess, getPublisherAccess } from './access.ts'
import type { OfOwnNode } from './paths.ts'

/**
 * The node that a trust is about: one of the publisher, or one to come, which no row is for. Throws the 404 and 403 of
 * publisher and node, 403 for a node of another publisher, and with `publish` 409 for a deleted one.
 */
export const getTrustPlace = async (
  deps: ReadDeps,
  {
    access,
    ...asked
  }: OfOwnNode & {
    access: Exclude<NodeAccess, 'install'>
    action?: 'trust_publisher'
    caller: Caller | undefined
  },
): Promise<NodePlace & { isToCome: boolean }> => {
  const { publisherId, nodeId } = asked
  const found = findNodeFacts(deps.sql, { id: nodeId, userId: undefined })
  const node = await withinDeadline(deps.sql, found)
  if (node?.publisherId === publisherId.toLowerCase()) {
    const own = await getOwnNodeAccess(deps, { ...asked, access })
    return { publisherId: own.publisherId, nodeId: own.id, isToCome: false }
  }
  const publisher = await getPublisherAccess(deps, {
    ...asked,
    access: access === 'read' ? 'read' : 'write',
  })
  if (node) throw errors.nodeOwnedByOtherPublisher(nodeId)
  return { publisherId: publisher.id, nodeId, isToCome: true }
}
