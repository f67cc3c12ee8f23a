import { withinDeadline } from '../../db/client.ts'
import type { Entries } from '../../db/search/entries.ts'
import { readNodeEntries, readNodeText } from '../../db/search/entries.ts'
import { listNodes, listPublisherNodes } from '../../db/search/node-list.ts'
import { deleteNode } from '../../db/registry/node-move.ts'
import { insertNode, updateNode } from '../../db/registry/node.ts'
import { searchNodes, toSearchFilter } from '../../db/search/node-page.ts'
import type { NodeSearch } from '../../db/search/node-page.ts'
import { countFacets, findMatchedHostNodes } from '../../db/search/facets.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { errors } from '../../domain/shared/errors.ts'
import { judgeNodeStatus } from '../../domain/registry/admin-judge.ts'
import type {
  NodeListQuery,
  NodePage,
  NodeSearchQuery,
  PublisherNodesQuery,
} from '../../domain/registry/node-query.ts'
import { NodeAdminUpdate } from '../../domain/registry/node.ts'
import type { NewNode, OwnNodeUpdate } from '../../domain/registry/node.ts'
import { listEmptyIsAbsent, totalPages } from '../../domain/registry/registry-fields.ts'
import { makeValidator, onePerField } from '../../domain/shared/validate.ts'
import { parseListTime } from '../../domain/video-task/video-list.ts'
import type { Caller } from '../access/auth.ts'
import { faultsError } from '../serve/errors.ts'
import { demandedRev, isKnown, quoteTag } from '../serve/etag.ts'
import type { JsonAnswer, RouteRequest, SavedAnswer } from '../route.ts'
import { getNodeAccess, getOwnNodeAccess, getPublisherAccess } from './access.ts'
import { editOwnNodeByAdmin } from './admin.ts'
import type { CommitDeps } from '../deps.ts'
import type { ListDeps, RegistryDeps } from './deps.ts'
import { answerList } from './list-answer.ts'
import type { OfNode, OfOwnNode, OfPublisher } from './paths.ts'

export const createNode = async (
  deps: RegistryDeps,
  request: RouteRequest<OfPublisher, unknown, NewNode>,
): Promise<SavedAnswer> => {
  const { body: node, caller } = request
  const { publisherId } = request.params
  const asked = { publisherId, access: 'write', action: 'create_node', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return await unitOfWork(deps, async (sql) => {
    const made = await insertNode(sql, { publisherId: id, node }, deps)
    if (made.result === 'publisher_banned') throw errors.publisherBanned(id)
    if (made.result === 'node_deleted') throw errors.nodeDeleted(node.id)
    if (made.result !== 'created') throw errors.nodeExists(node.id)
    const answer = { status: 201, body: made.node }
    return await request.saveIdempotentResponse(sql, answer)
  })
}

type EditRequest = RouteRequest<OfOwnNode, unknown, OwnNodeUpdate>

/** Makes the handler that edits a node. Of a platform admin the whole body counts, so it is judged again. */
export const makeEditNode = (deps: RegistryDeps) => {
  const validate = makeValidator(NodeAdminUpdate, listEmptyIsAbsent(NodeAdminUpdate))
  return async (request: EditRequest): Promise<JsonAnswer> => {
    if (!request.caller?.isPlatformAdmin) return await editNode(deps, request)
    const { value, faults } = validate(request.body)
    const body = value as NodeAdminUpdate
    const refusal = faultsError(onePerField(faults, judgeNodeStatus(body)), {
      query: {},
      body,
    })
    if (refusal) throw refusal
    return await editOwnNodeByAdmin(deps, { ...request, body })
  }
}

const editNode = async (
  deps: RegistryDeps,
  { params, body, headers, caller }: EditRequest,
): Promise<JsonAnswer> => {
  const { publisherId, id, rev } = await getOwnNodeAccess(deps, {
    ...params,
    action: 'edit_node',
    caller,
  })
  const { id: _same, ...fields } = body
  const edit = { publisherId, id, fields, ifRev: demandedRev(headers['if-match'], rev) }
  const done = await unitOfWork(deps, (sql) => updateNode(sql, edit, deps))
  if (done.result === 'node_banned') throw errors.nodeBanned(id)
  if (done.result === 'precondition_failed') throw errors.preconditionFailed()
  if (done.result !== 'updated') throw errors.nodeNotFound(id)
  return { status: 200, body: done.node }
}

/** Deletes a node; its versions are hidden with it, and its id stays taken. */
export const removeNode = async (
  deps: CommitDeps,
  { params, caller }: RouteRequest<OfOwnNode>,
): Promise<JsonAnswer> => {
  const node = await getOwnNodeAccess(deps, { ...params, action: 'delete_node', caller })
  const done = await unitOfWork(deps, (sql) => deleteNode(sql, node))
  if (done === 'node_not_found') throw errors.nodeNotFound(node.id)
  if (done === 'node_banned') throw errors.nodeBanned(node.id)
  return { status: 204 }
}

/** Answers a node, or 304 before it is put together. */
export const readNode = async (
  deps: ListDeps,
  { params: { nodeId }, headers, caller }: RouteRequest<OfNode>,
): Promise<JsonAnswer> => {
  const { id, revision } = await getNodeAccess(deps, { nodeId, access: 'read', caller })
  const etag = quoteTag(revision)
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: { etag } }
  const { texts } = deps.memo
  const text = await withinDeadline(
    deps.sql,
    readNodeText(deps.sql, { id, revision }, { publicUrl: deps.publicUrl, texts }),
  )
  return { status: 200, text, headers: { etag } }
}

/** Answers a page of all nodes, in the order they were made. */
export const listAllNodes = async (
  deps: ListDeps,
  { query, caller }: RouteRequest<unknown, NodeListQuery>,
): Promise<JsonAnswer> => {
  const { timestamp, ...rest } = seenBy(caller, query)
  const time = timestamp === undefined ? {} : { timestamp: parseListTime(timestamp).toISOString() }
  const found = await deps.heavyReads.run(() =>
    withinDeadline(deps.sql, listNodes(deps.sql, { ...rest, ...time }, deps)),
  )
  return answerPage(deps, query, found)
}

export const searchAllNodes = async (
  deps: ListDeps,
  { query, caller }: RouteRequest<unknown, NodeSearchQuery>,
): Promise<JsonAnswer> => {
  const seen = seenBy(caller, query)
  const found = await deps.searches.run(() =>
    withinDeadline(deps.sql, searchNodes(deps.sql, seen, deps)),
  )
  return answerPage(deps, query, found, await readMore(deps, seen, found.nodes.ids))
}

/** What a search is told besides its page, when it asks for it. */
const readMore = async (
  { sql, heavyReads, memo }: ListDeps,
  query: Omit<NodeSearch, 'include_banned'>,
  ids: readonly string[],
): Promise<Pick<NodePage, 'matched_host_nodes' | 'facets'>> => {
  const { host_node_search: name, facets } = query
  return {
    ...(name && {
      matched_host_nodes: await withinDeadline(sql, findMatchedHostNodes(sql, ids, name)),
    }),
    ...(facets && {
      facets: await heavyReads.run(() =>
        withinDeadline(sql, countFacets(sql, toSearchFilter(query), memo)),
      ),
    }),
  }
}

type PublisherNodesRequest = RouteRequest<OfPublisher, PublisherNodesQuery>

/** Answers a page of a publisher's nodes as a bare list. */
export const listNodesOfPublisher = async (
  deps: ListDeps,
  request: PublisherNodesRequest,
): Promise<JsonAnswer> => {
  const { nodes, total } = await findPublisherNodes(deps, request)
  return answerList(deps, {
    entries: nodes,
    readEntries: (ids) => readNodeEntries(deps.sql, ids, deps),
    headers: { 'x-total-count': String(total) },
  })
}

/** Answers the same with its numbers, as all other pages of nodes. */
export const pageNodesOfPublisher = async (
  deps: ListDeps,
  request: PublisherNodesRequest,
): Promise<JsonAnswer> => answerPage(deps, request.query, await findPublisherNodes(deps, request))

const findPublisherNodes = async (
  deps: ListDeps,
  { params: { publisherId }, query, caller }: PublisherNodesRequest,
) => {
  const { id } = await getPublisherAccess(deps, { publisherId, access: 'read', caller })
  const asked = { ...seenBy(caller, query), publisherId: id }
  return await deps.heavyReads.run(() =>
    withinDeadline(deps.sql, listPublisherNodes(deps.sql, asked, deps)),
  )
}

/** A query as it counts for its caller: only platform admins may ask for what is banned, or for a status. */
const seenBy = <Query extends { include_banned?: boolean; status?: unknown }>(
  caller: Caller | undefined,
  { include_banned: asked = false, status, ...query }: Query,
): Omit<Query, 'include_banned'> & { include_banned?: true } => ({
  ...(query as Omit<Query, 'include_banned'>),
  ...(caller?.isPlatformAdmin && {
    ...(asked && { include_banned: true }),
    ...(status !== undefined && { status }),
  }),
})

const answerPage = (
  deps: ListDeps,
  { page, limit }: { page: number; limit: number },
  { nodes, total }: { nodes: Entries; total: number },
  more: Pick<NodePage, 'matched_host_nodes' | 'facets'> = {},
): JsonAnswer =>
  answerList(deps, {
    entries: nodes,
    readEntries: (ids) => readNodeEntries(deps.sql, ids, deps),
    member: 'nodes',
    others: { page, limit, total, totalPages: totalPages(total, limit), ...more },
  })
