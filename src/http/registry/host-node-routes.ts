import { validateRegistration } from '../../domain/registry/host-node-validation.ts'
import {
  HostNode,
  HostNodeListQuery,
  HostNodePage,
  HostNodeRegistration,
} from '../../domain/registry/host-node.ts'
import { NodeOfHostNode } from '../../domain/registry/node.ts'
import { listEmptyIsAbsent } from '../../domain/registry/registry-fields.ts'
import type { ReadDeps } from '../deps.ts'
import type { HostNodeDeps, ListDeps, RecordDeps } from './deps.ts'
import {
  listHostNodesOfVersion,
  makeAuthorizeExtractor,
  readHostNode,
  readNodeOfHostNode,
  registerHostNodes,
} from './host-node.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import {
  OfHostNode,
  OfHostNodeName,
  OfVersion,
  VERSION_ERRORS,
  VERSION_PATH,
  queryOf,
} from './paths.ts'
import { HOST_NODE, NODE } from './examples.ts'

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
      'Of the nodes that preempt the name or have it in their latest version, the first by preemption, search_ranking, the oldest active version with the name, and id. Installs do not count.',
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
