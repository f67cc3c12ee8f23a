import { randomUUID } from 'node:crypto'

import { withinDeadline } from '../../db/client.ts'
import type { Transaction } from '../../db/client.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import type { Enqueue } from '../../db/unit-of-work.ts'
import { findNodeFacts } from '../../db/registry/node.ts'
import type { NodeFacts } from '../../db/registry/node.ts'
import type { LiveToken } from '../../db/registry/personal-access-token.ts'
import { insertPublication } from '../../db/registry/publish.ts'
import type { Publication } from '../../db/registry/publish.ts'
import { apiError, errors } from '../../domain/shared/errors.ts'
import { publishedFields } from '../../domain/registry/publish.ts'
import type { PublishBody } from '../../domain/registry/publish.ts'
import { parseVersionNumber } from '../../domain/registry/version-number.ts'
import { nodeCondition, nodeRejection } from '../../domain/registry/visibility.ts'
import { startPublishVersion } from '../../jobs/version.ts'
import type { Caller } from '../access/auth.ts'
import type { RouteRequest, SavedResponse } from '../route.ts'
import { getPublisherAccess, makeNodeRejection } from './access.ts'
import type { PublishDeps, TokenDeps } from './deps.ts'
import type { OfOwnNode } from './paths.ts'
import { getPublishToken } from './personal-access-token.ts'

type PublishRequest = RouteRequest<OfOwnNode, unknown, PublishBody>

/**
 * Publishes a version: makes or updates its node, and makes the version with the start of its workflow and a link to
 * upload its archive. A version that still awaits its archive is returned again with a new link.
 */
export const publish = async (
  deps: PublishDeps,
  request: PublishRequest,
): Promise<SavedResponse> => {
  const { params, body, caller } = request
  const token = await getPublishToken(deps, request)
  const place = await getPublishPlace(deps, { ...params, caller, token })
  const publication = makePublication(deps, { ...place, token, caller, body })
  const work = async (sql: Transaction, enqueue: Enqueue): Promise<SavedResponse> => {
    const done = await insertPublication(sql, publication, { ...deps, enqueue })
    if (done.result !== 'published') throw reject(done, publication)
    const { version, uploadExpiresAt } = done
    const signedUrl = deps.signer.signArchive({
      id: version.id,
      expires: Math.floor(uploadExpiresAt.getTime() / 1000),
      max: deps.archiveMaxBytes,
    })
    const response = { status: 201, body: { node_version: version, signedUrl } }
    return await request.saveIdempotentResponse(sql, response)
  }
  return await unitOfWork(deps, work, { at: 'create' })
}

interface PublishPlace {
  publisherId: string
  /** As it is stored, or as the path spells a new one. */
  nodeId: string
  isMember: boolean
}

/** Reads the place of a new version. Throws 404, the 403 of bans, role and another publisher's node, and 409. */
const getPublishPlace = async (
  deps: TokenDeps,
  { publisherId, nodeId, caller, token }: OfOwnNode & Pick<Given, 'caller' | 'token'>,
): Promise<PublishPlace> => {
  const userId = caller?.principal
  const [publisher, node] = await Promise.all([
    getPublisherAccess(deps, { publisherId, access: 'write', caller }),
    withinDeadline(deps.sql, findNodeFacts(deps.sql, { id: nodeId, userId })),
  ])
  const isOwn = node?.publisherId === publisher.id
  if (isOwn) rejectBanned(node)
  if (deps.publishAuth === 'bearer+token' && publisher.role === null && !token.isExchanged)
    throw errors.roleTooLow('member')
  if (node && !isOwn) throw errors.nodeOwnedByOtherPublisher(nodeId)
  return {
    publisherId: publisher.id,
    nodeId: node?.id ?? nodeId,
    isMember: publisher.role !== null,
  }
}

/** Throws 403 for bans. A deleted node is a conflict, which is checked after the role. */
const rejectBanned = (node: NodeFacts): void => {
  const rejection = nodeRejection(nodeCondition(node.status, node.publisherStatus), 'publish')
  if (rejection && rejection !== 'node_deleted') throw makeNodeRejection(rejection, node)
}

interface Given extends PublishPlace {
  token: LiveToken
  caller: Caller | undefined
  body: PublishBody
}

const makePublication = (
  deps: PublishDeps,
  { publisherId, nodeId, isMember, token, caller, body }: Given,
): Publication => {
  const number = parseVersionNumber(body.node_version.version)
  if (!number) throw apiError('version_invalid')
  const id = randomUUID()
  const { version } = number
  // Where the token suffices, it stands for whoever made it.
  const owner = isMember && caller ? caller.principal : token.createdBy
  const facts = { versionId: id, nodeId, version, publisherId, owner }
  const summary = `publish ${nodeId}@${version}`
  return {
    id,
    publisherId,
    nodeId,
    fields: publishedFields(body.node),
    version: { ...body.node_version, version },
    number,
    uploadSeconds: deps.uploadExpirySeconds,
    publishedBy: owner,
    tokenId: token.id,
    start: startPublishVersion({ ...facts, summary }, deps),
  }
}

type Rejected = Exclude<Awaited<ReturnType<typeof insertPublication>>, { result: 'published' }>

const reject = (rejected: Rejected, { publisherId, nodeId, version }: Publication) => {
  switch (rejected.result) {
    case 'publisher_not_found':
      return errors.publisherNotFound(publisherId)
    case 'publisher_banned':
      return errors.publisherBanned(publisherId)
    case 'node_banned':
      return errors.nodeBanned(nodeId)
    case 'node_deleted':
      return errors.nodeDeleted(nodeId)
    case 'node_owned_by_other_publisher':
      return errors.nodeOwnedByOtherPublisher(nodeId)
    case 'version_exists':
      return errors.versionExists(version.version, rejected.status)
  }
}
