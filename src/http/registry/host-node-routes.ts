import { createHash, timingSafeEqual } from 'node:crypto'

import { withinDeadline } from '../../db/client.ts'
import { listHostNodes, readHostNodeEntries } from '../../db/registry/host-node-list.ts'
import { findHostNode, findNodeOfHostNode, putHostNodes } from '../../db/registry/host-node.ts'
import type { HostNodeResult } from '../../db/registry/host-node.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import {
  isSuccess,
  toHostNodeRow,
  validateRegistration,
} from '../../domain/registry/host-node-validation.ts'
import {
  HostNode,
  HostNodeListQuery,
  HostNodePage,
  HostNodeRegistration,
} from '../../domain/registry/host-node.ts'
import { NodeOfHostNode } from '../../domain/registry/node.ts'
import { listEmptyIsAbsent, totalPages } from '../../domain/registry/registry-fields.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { CredentialHeaders } from '../access/auth.ts'
import type { ReadDeps } from '../deps.ts'
import { defineRoute } from '../route.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../route.ts'
import { getVersionAccess } from './access.ts'
import type { HostNodeDeps, ListDeps, RecordDeps } from './deps.ts'
import { HOST_NODE, NODE } from './examples.ts'
import { makeListResponse } from './list-response.ts'
import {
  OfHostNode,
  OfHostNodeName,
  OfVersion,
  VERSION_ERRORS,
  VERSION_PATH,
  queryOf,
} from './paths.ts'

const COMMON = { tag: 'Host nodes' } as const
const HOST_NODES_PATH = `${VERSION_PATH}/host-nodes`

/** 5,000 host nodes with three JSON texts each. */
const REGISTRATION_BODY = {
  maxBytes: 16_777_216,
  heldBytes: 16_777_216,
  maxMembers: 1_000_000,
  deadlineMs: 30_000,
} as const

/** The routes of the node classes that a version brings. */
export const makeHostNodeRoutes = (deps: HostNodeDeps): Route[] => [
  register(deps),
  list(deps),
  read(deps),
  readNode(deps),
]

const register = (deps: HostNodeDeps): Route =>
  defineRoute({
    ...COMMON,
    ...authOf(deps),
    method: 'post',
    path: HOST_NODES_PATH,
    quota: 'registration',
    summary: 'Register the host nodes of a version',
    description: 'All of them at once, or why they could not be read. A success is final.',
    params: OfVersion,
    body: {
      ...REGISTRATION_BODY,
      schema: HostNodeRegistration,
      emptyIsAbsent: listEmptyIsAbsent(HostNodeRegistration),
      examples: {
        success: {
          success: true,
          nodes: { BlurImage: { function: 'blur', return_types: ['IMAGE'] } },
        },
        failure: { success: false, reason: 'the archive could not be imported' },
      },
    },
    responses: { 204: { description: 'They are stored.' } },
    errors: [...VERSION_ERRORS, 'registration_closed', 'already_registered', 'outcome_unknown'],
    validate: ({ body }) => validateRegistration(body),
    handler: (request) => registerHostNodes(deps, request),
  })

const authOf = ({ extractionToken }: HostNodeDeps) =>
  extractionToken === undefined
    ? ({ auth: 'none' } as const)
    : ({ auth: 'own', authorise: makeAuthorizeExtractor(extractionToken) } as const)

const list = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: HOST_NODES_PATH,
    summary: 'List the host nodes of a version',
    description: 'By name; none until they have been read.',
    params: OfVersion,
    ...queryOf(HostNodeListQuery),
    read: 'public',
    responses: {
      200: {
        description: 'A page of host nodes.',
        schema: HostNodePage,
        example: { host_nodes: [HOST_NODE], page: 1, limit: 10, total: 1, totalNumberOfPages: 1 },
      },
    },
    errors: [...VERSION_ERRORS, 'busy'],
    handler: (request) => listHostNodesOfVersion(deps, request),
  })

const read = (deps: ReadDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: `${HOST_NODES_PATH}/:hostNodeName`,
    summary: 'Read a host node',
    params: OfHostNode,
    read: 'public',
    responses: { 200: { description: 'The host node.', schema: HostNode, example: HOST_NODE } },
    errors: [...VERSION_ERRORS, 'host_node_not_found'],
    handler: (request) => readHostNode(deps, request),
  })

const readNode = (deps: RecordDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'none',
    method: 'get',
    path: '/host-nodes/:hostNodeName/node',
    summary: 'Find the node that a host node belongs to',
    description:
      'Of the nodes that have the name in their latest version and whose policy does not ban it, the first by preemption, search_ranking, the oldest active version with the name, and id. Installs do not count.',
    params: OfHostNodeName,
    read: 'public',
    responses: {
      200: {
        description: 'The node.',
        schema: NodeOfHostNode,
        example: { ...NODE, other_node_ids: ['image-tools-fork'] },
      },
    },
    errors: ['host_node_not_found'],
    handler: (request) => readNodeOfHostNode(deps, request),
  })

/** Makes the check of the credential that registers host nodes. It throws 401. */
const makeAuthorizeExtractor =
  (extractionToken: string) =>
  (headers: CredentialHeaders): void => {
    const given = [headers['authorization'] ?? []].flat()
    const token = /^bearer +(\S+) *$/i.exec(given[0] ?? '')?.[1]
    const isRight =
      given.length === 1 &&
      token !== undefined &&
      timingSafeEqual(digest(token), digest(extractionToken))
    if (!isRight) throw errors.unauthorized()
  }

/** Digests are equally long, as timingSafeEqual needs it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Stores the host nodes of a version, or why they could not be read. */
const registerHostNodes = async (
  deps: HostNodeDeps,
  request: RouteRequest<OfVersion, unknown, HostNodeRegistration>,
): Promise<SavedResponse> => {
  const { nodeId, version } = request.params
  const { id: versionId } = await getVersionAccess(deps, {
    nodeId,
    version,
    access: 'write',
    caller: undefined,
  })
  const put = {
    versionId,
    source: deps.extractionToken === undefined ? 'reported' : 'trusted',
    result: toResult(request.body),
    buildInfo: request.body.cloud_build_info,
  } as const
  return await unitOfWork(deps, async (sql) => {
    const done = await putHostNodes(sql, put)
    if (done === 'version_not_found') throw errors.versionNotFound(nodeId, version)
    if (done === 'already_registered') throw errors.alreadyRegistered()
    if (done === 'registration_closed') throw errors.registrationClosed()
    const response = { status: 204 }
    return await request.saveIdempotentResponse(sql, response)
  })
}

const toResult = (body: HostNodeRegistration): HostNodeResult => {
  if (!isSuccess(body)) return { success: false, reason: body.reason || undefined }
  const nodes = Object.entries(body.nodes ?? {})
  return { success: true, nodes: new Map(nodes.map(([name, node]) => [name, toHostNodeRow(node)])) }
}

const listHostNodesOfVersion = async (
  deps: ListDeps,
  { params, query, caller }: RouteRequest<OfVersion, HostNodeListQuery>,
): Promise<JsonResponse> => {
  const { page, limit, search, policy: policies } = query
  const { id: versionId } = await getVersionAccess(deps, { ...params, access: 'read', caller })
  const { hostNodes, total } = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listHostNodes(deps.sql, { versionId, search, policies, page, limit })),
  )
  return makeListResponse(deps, {
    entries: hostNodes,
    readEntries: (names) => readHostNodeEntries(deps.sql, { versionId, names }),
    member: 'host_nodes',
    others: { page, limit, total, totalNumberOfPages: totalPages(total, limit) },
  })
}

const readHostNode = async (
  deps: ReadDeps,
  { params, caller }: RouteRequest<OfHostNode>,
): Promise<JsonResponse> => {
  const { hostNodeName: name } = params
  const { id: versionId } = await getVersionAccess(deps, { ...params, access: 'read', caller })
  const body = await withinDeadline(deps.sql, findHostNode(deps.sql, { versionId, name }))
  if (!body) throw errors.hostNodeNotFound(name)
  return { status: 200, body }
}

/** Returns the node that a host node belongs to. */
const readNodeOfHostNode = async (
  deps: RecordDeps,
  { params: { hostNodeName: name } }: RouteRequest<OfHostNodeName>,
): Promise<JsonResponse> => {
  const body = await withinDeadline(deps.sql, findNodeOfHostNode(deps.sql, name, deps))
  if (!body) throw errors.hostNodeNotFound(name)
  return { status: 200, body }
}
