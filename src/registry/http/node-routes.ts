import { validateNewNode, validateNodeUpdate } from '../domain/node-validation.ts'
import {
  NodeListPage,
  NodeListQuery,
  NodePage,
  NodeSearchQuery,
  PublisherNodePageQuery,
  PublisherNodesQuery,
  validateNodeList,
} from '../domain/node-query.ts'
import {
  NewNode,
  Node,
  NODE_ADMIN_MEMBERS,
  NodeAdminUpdate,
  NodeList,
  OwnNodeUpdate,
  WrittenNode,
} from '../domain/node.ts'
import { DownloadQuery, Downloads, validateDays } from '../domain/download.ts'
import { validateHostVersion } from '../domain/host-version.ts'
import { SEARCH_INSTEAD, validateDepth } from '../domain/search-depth.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'
import type { ListDeps, NodeDeps, RegistryDeps } from './deps.ts'
import {
  createNode,
  makeEditNode,
  listAllNodes,
  listNodesOfPublisher,
  pageNodesOfPublisher,
  readNode,
  readDownloads,
  removeNode,
  searchAllNodes,
} from './node.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfNode,
  OfOwnNode,
  OfPublisher,
  PUBLISHER_ERRORS,
  PUBLISHER_PATH,
  WRITE_ERRORS,
  queryOf,
} from './paths.ts'
import { NODE } from './examples.ts'

const COMMON = { tag: 'Packs', unread: 'ignored' } as const
const OWN_ERRORS = ['publisher_not_found', ...NODE_ERRORS, ...WRITE_ERRORS] as const

/** The routes of nodes: written by their publisher, read and searched by everybody. */
export const makeNodeRoutes = (deps: NodeDeps): Route[] => [
  create(deps),
  edit(deps),
  remove(deps),
  listOfPublisher(deps),
  pageOfPublisher(deps),
  search(deps),
  list(deps),
  read(deps),
  downloads(deps),
]

const create = (deps: RegistryDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'post',
    path: `${PUBLISHER_PATH}/nodes`,
    summary: 'Create a pack',
    description: 'For members of the publisher.',
    params: OfPublisher,
    body: {
      ...SMALL_BODY,
      schema: NewNode,
      emptyIsAbsent: 'optional',
      examples: { short: { id: 'image-tools' }, more: { id: 'image-tools', tags: ['image'] } },
    },
    responses: created('The pack.', WrittenNode, {
      example: NODE,
      links: {
        read: { method: 'get', path: '/nodes/:nodeId', parameters: NEW_ID },
        edit: { method: 'put', path: OWN_NODE_PATH, parameters: { ...OWN_PUBLISHER, ...NEW_ID } },
        remove: {
          method: 'delete',
          path: OWN_NODE_PATH,
          parameters: { ...OWN_PUBLISHER, ...NEW_ID },
        },
      },
    }),
    errors: ['url_refused', ...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'node_exists', 'node_deleted'],
    validate: ({ body }) => validateNewNode(body),
    handler: (request) => createNode(deps, request),
  })

const NEW_ID = { nodeId: '$response.body#/id' }
const OWN_PUBLISHER = { publisherId: '$request.path.publisherId' }

const edit = (deps: RegistryDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'put',
    path: OWN_NODE_PATH,
    summary: 'Edit a pack',
    description:
      'For members of the publisher. An absent member keeps its value, an empty text or list clears it. A platform admin may do so, too, and sets what is theirs to set as `PUT /admin/nodes/{nodeId}` does; of anybody else those members are ignored.',
    params: OfOwnNode,
    requestHeaders: ['If-Match'],
    body: {
      ...SMALL_BODY,
      schema: OwnNodeUpdate,
      document: NodeAdminUpdate,
      adminMembers: ['publisher', ...NODE_ADMIN_MEMBERS],
      emptyIsAbsent: 'optional',
      examples: { tags: { tags: ['image', 'blur'], icon: '' } },
    },
    responses: ok('The pack as it is now.', WrittenNode, { example: NODE }),
    errors: [
      'url_refused',
      'id_mismatch',
      ...OWN_ERRORS,
      'precondition_failed',
      'illegal_move',
      'host_node_preempted',
    ],
    validate: ({ params, body }) => validateNodeUpdate(body, { nodeId: String(params['nodeId']) }),
    handler: makeEditNode(deps),
  })

const remove = (deps: CommitDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'delete',
    path: OWN_NODE_PATH,
    summary: 'Delete a pack',
    description:
      'For owners of the publisher. Its versions go with it; its id stays taken. Not while a version of it is banned.',
    params: OfOwnNode,
    responses: { 204: { description: 'The pack is deleted.' } },
    errors: [...OWN_ERRORS, 'illegal_move'],
    handler: (request) => removeNode(deps, request),
  })

const downloads = (deps: ListDeps): Route =>
  defineRoute({
    tag: 'Packs',
    auth: 'optional',
    method: 'get',
    path: '/nodes/:nodeId/downloads',
    summary: 'Read how often a pack was installed, by day and version',
    params: OfNode,
    query: DownloadQuery,
    read: 'public',
    responses: ok('The days on which it was installed.', Downloads, {
      example: {
        from: '2026-01-01',
        to: '2026-01-31',
        downloads: 3,
        days: [{ day: '2026-01-30', downloads: 3, versions: { '1.0.0': 1, '1.1.0': 2 } }],
      },
    }),
    errors: [...NODE_ERRORS, 'busy'],
    validateQuery: ({ query }) => validateDays(query, new Date()),
    handler: (request) => readDownloads(deps, request),
  })

const listOfPublisher = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: `${PUBLISHER_PATH}/nodes`,
    summary: 'List the packs of a publisher',
    params: OfPublisher,
    ...queryOf(PublisherNodesQuery),
    read: 'public',
    requestHeaders: ['Accept-Language'],
    responses: ok('A page of packs, by id.', NodeList, {
      headers: ['X-Total-Count', 'Content-Language'],
      example: [NODE],
    }),
    errors: [...PUBLISHER_ERRORS, 'busy'],
    handler: (request) => listNodesOfPublisher(deps, request),
  })

const pageOfPublisher = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: `${PUBLISHER_PATH}/nodes/v2`,
    summary: 'List the packs of a publisher in pages with their numbers',
    params: OfPublisher,
    ...queryOf(PublisherNodePageQuery),
    read: 'public',
    requestHeaders: ['Accept-Language'],
    responses: ok('A page of packs, by id.', NodePage, { headers: LANGUAGE, example: PAGE }),
    errors: [...PUBLISHER_ERRORS, 'busy'],
    handler: (request) => pageNodesOfPublisher(deps, request),
  })

const LANGUAGE = ['Content-Language'] as const

const PAGE = { nodes: [NODE], page: 1, limit: 10, total: 1, totalPages: 1 }

const MISTYPED = {
  nodes: [],
  page: 1,
  limit: 10,
  total: 0,
  totalPages: 0,
  did_you_mean: [{ id: NODE.id, name: NODE.name }],
}

const search = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: '/nodes/search',
    summary: 'Search packs',
    description:
      'Every filter that is given must hold. Packs come by relevance, then by search_ranking, downloads and id.',
    ...queryOf(NodeSearchQuery),
    read: 'public',
    requestHeaders: ['Accept-Language'],
    responses: ok('A page of packs.', NodePage, {
      headers: LANGUAGE,
      examples: { found: PAGE, mistyped: MISTYPED },
    }),
    errors: ['busy'],
    validateQuery: ({ query }) => [
      ...validateDepth(query, {
        size: 'limit',
        reach: deps.searchMaxDepth,
        instead: SEARCH_INSTEAD,
      }),
      ...validateHostVersion(query['host_version']),
    ],
    handler: (request) => searchAllNodes(deps, request),
  })

const list = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: '/nodes',
    summary: 'List all packs',
    description:
      'In the order of their creation unless `sort` names another. Pages have no limit of depth, so that a client can copy the whole list.',
    ...queryOf(NodeListQuery),
    read: 'public',
    requestHeaders: ['Accept-Language'],
    responses: ok('A page of packs.', NodeListPage, { headers: LANGUAGE, example: PAGE }),
    errors: ['busy'],
    validateQuery: ({ query }) => validateNodeList(query),
    handler: (request) => listAllNodes(deps, request),
  })

const read = (deps: ListDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: '/nodes/:nodeId',
    summary: 'Read a pack',
    params: OfNode,
    read: 'public',
    requestHeaders: ['Accept-Language'],
    responses: ok('The pack.', Node, { headers: LANGUAGE, example: NODE }),
    errors: NODE_ERRORS,
    handler: (request) => readNode(deps, request),
  })
