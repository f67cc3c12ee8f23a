import { Type } from 'typebox'
import type { Static, TObject } from 'typebox'

import type { ErrorCodeName } from '../../platform/domain/errors.ts'
import { NODE_ID_MAX, NODE_ID_PATTERN } from '../domain/node.ts'
import { listOptional } from '../../platform/domain/schema-fields.ts'

/** Parameters of paths. */
const PARAMS = {
  publisherId: Type.String({ description: 'Id of the publisher; case does not matter.' }),
  nodeId: Type.String({ description: 'Id of the pack; case does not matter.' }),
  version: Type.String({
    description:
      'The version, strict or as `7.8`; its build metadata does not matter. Its id, a UUID, will do.',
  }),
  versionId: Type.String({ description: 'Id of the version, a UUID, or its number.' }),
  userId: Type.String({ description: 'Id of the user.' }),
  reviewId: Type.String({ description: 'Id of the review, a UUID.' }),
  tokenId: Type.String({ description: 'Id of the token, a UUID.' }),
  trustedPublisherId: Type.String({ description: 'Id of the trusted publisher, a UUID.' }),
  hostNodeName: Type.String({ description: 'Name of the host node, exactly, percent-encoded.' }),
}

const { publisherId, nodeId, version, versionId, userId, tokenId, hostNodeName } = PARAMS
const { trustedPublisherId, reviewId } = PARAMS

export const OfPublisher = Type.Object({ publisherId })
export type OfPublisher = Static<typeof OfPublisher>
export const OfMember = Type.Object({ publisherId, userId })
export type OfMember = Static<typeof OfMember>
export const OfToken = Type.Object({ publisherId, tokenId })
export type OfToken = Static<typeof OfToken>
export const OfOwnNode = Type.Object({ publisherId, nodeId })
export type OfOwnNode = Static<typeof OfOwnNode>
export const OfTrust = Type.Object({ publisherId, nodeId, trustedPublisherId })
export type OfTrust = Static<typeof OfTrust>
/** A node that may be still to be created. */
export const OfNewNode = Type.Object({
  publisherId,
  nodeId: Type.String({
    'x-pattern': NODE_ID_PATTERN.replace('*', `{0,${NODE_ID_MAX - 2}}`),
    description: 'Id of the pack, which is made with it when there is none; case does not matter.',
  }),
})
export const OfOwnVersion = Type.Object({ publisherId, nodeId, versionId })
export type OfOwnVersion = Static<typeof OfOwnVersion>
export const OfNode = Type.Object({ nodeId })
export type OfNode = Static<typeof OfNode>
export const OfVersion = Type.Object({ nodeId, version })
export type OfVersion = Static<typeof OfVersion>
export const OfArchive = Type.Object({ publisherId, nodeId, version })
export type OfArchive = Static<typeof OfArchive>
export const OfHostNode = Type.Object({ nodeId, version, hostNodeName })
export type OfHostNode = Static<typeof OfHostNode>
export const OfNodeReview = Type.Object({ nodeId, reviewId })
export const OfOwnNodeReview = Type.Object({ publisherId, nodeId, reviewId })
export const OfNodeHostNode = Type.Object({ nodeId, hostNodeName })
export type OfNodeHostNode = Static<typeof OfNodeHostNode>
export const OfHostNodeName = Type.Object({ hostNodeName })
export type OfHostNodeName = Static<typeof OfHostNodeName>

export const PUBLISHER_PATH = '/publishers/:publisherId'
export const OWN_NODE_PATH = `${PUBLISHER_PATH}/nodes/:nodeId`
export const OWN_VERSION_PATH = `${OWN_NODE_PATH}/versions/:versionId`
export const VERSION_PATH = '/nodes/:nodeId/versions/:version'

/** Errors of what a path names, and of who asks. */
export const PUBLISHER_ERRORS = [
  'publisher_not_found',
  'publisher_banned',
] as const satisfies ErrorCodeName[]
export const NODE_ERRORS = [
  'node_not_found',
  'node_banned',
  'publisher_banned',
] as const satisfies ErrorCodeName[]
export const VERSION_ERRORS = [...NODE_ERRORS, 'version_not_found'] as const
export const WRITE_ERRORS = ['forbidden', 'outcome_unknown'] as const satisfies ErrorCodeName[]

/** Queries of the registry: lists by repeated names, and an empty text is no filter. */
export const queryOf = <Query extends TObject>(query: Query) => ({
  query,
  queryEmptyIsAbsent: listOptional(query),
  queryLists: 'repeated' as const,
})
