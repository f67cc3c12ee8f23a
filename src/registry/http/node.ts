import { changesOf, insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import type { Entries } from '../db/search/entries.ts'
import { readNodeEntries, readNodeText } from '../db/search/entries.ts'
import {
  findNextTimestamp,
  listNodes,
  listPublisherNodes,
  toListFilter,
} from '../db/search/node-list.ts'
import { deleteNode } from '../db/node-transition.ts'
import { listDownloads } from '../db/download.ts'
import { insertNode, updateNode } from '../db/node.ts'
import type { NodeFilter } from '../db/search/node-filter.ts'
import { searchNodes, toSearchFilter } from '../db/search/node-page.ts'
import type { NodeSearch } from '../db/search/node-page.ts'
import { findSimilar } from '../db/search/similar-nodes.ts'
import { countFacets, findMatchedHostNodes, listHostVersions } from '../db/search/facets.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { validateNodeStatus } from '../domain/admin-validation.ts'
import { listExcluding } from '../domain/host-version.ts'
import type {
  NodeListQuery,
  NodePage,
  NodeSearchQuery,
  PublisherNodesQuery,
} from '../domain/node-query.ts'
import { NodeAdminUpdate, NodeStatus } from '../domain/node.ts'
import type { NewNode, OwnNodeUpdate } from '../domain/node.ts'
import { listEmptyIsAbsent, totalPages } from '../../platform/domain/schema-fields.ts'
import { readDays } from '../domain/download.ts'
import type { DownloadQuery } from '../domain/download.ts'
import { textInLanguage } from '../domain/translations.ts'
import { makeValidator, onePerField } from '../../platform/domain/validate.ts'
import { parseListTime } from '../../platform/domain/time-bounds.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import { validationError } from '../../platform/domain/validation-error.ts'
import { demandedRev, isKnown, quoteTag } from '../../platform/http/serve/etag.ts'
import { listLanguages } from '../../platform/http/serve/negotiate.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { getNodeAccess, getOwnNodeAccess, getPublisherAccess, requireSameStatus } from './access.ts'
import { editOwnNodeByAdmin } from './admin.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'
import type { ListDeps, RegistryDeps } from './deps.ts'
import { makeListResponse } from './list-response.ts'
import type { OfNode, OfOwnNode, OfPublisher } from './paths.ts'
import { withWarnings } from './warn.ts'

export const createNode = async (
  deps: RegistryDeps,
  request: RouteRequest<OfPublisher, unknown, NewNode>,
): Promise<SavedResponse> => {
  const { body: node, caller } = request
  const { publisherId } = request.params
  const asked = { publisherId, access: 'write', action: 'create_node', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return await unitOfWork(deps, async (sql) => {
    const made = await insertNode(sql, { publisherId: id, node }, deps)
    if (made.result === 'publisher_banned') throw errors.publisherBanned(id)
    if (made.result === 'node_deleted') throw errors.nodeDeleted(node.id)
    if (made.result !== 'created') throw errors.nodeExists(node.id)
    const target = auditTarget.node(made.node.id)
    const after = { ...node, publisher: id }
    await insertAudit(sql, auditOf(request), { action: 'node.create', target, after })
    const response = { status: 201, body: withWarnings(deps, node, made.node) }
    return await request.saveIdempotentResponse(sql, response)
  })
}

type EditRequest = RouteRequest<OfOwnNode, unknown, OwnNodeUpdate>

/** Makes the handler that edits a node. A platform admin's whole body counts, so it is validated again. */
export const makeEditNode = (deps: RegistryDeps) => {
  const validate = makeValidator(NodeAdminUpdate, listEmptyIsAbsent(NodeAdminUpdate))
  return async (request: EditRequest): Promise<JsonResponse> => {
    if (!request.caller?.isPlatformAdmin) return await editNode(deps, request)
    const { value, issues } = validate(request.body)
    const body = value as NodeAdminUpdate
    const rejection = validationError(onePerField(issues, validateNodeStatus(body)), {
      query: {},
      body,
    })
    if (rejection) throw rejection
    return await editOwnNodeByAdmin(deps, { ...request, body })
  }
}

const editNode = async (deps: RegistryDeps, request: EditRequest): Promise<JsonResponse> => {
  const { params, body, headers, caller } = request
  const { publisherId, id, rev, status } = await getOwnNodeAccess(deps, {
    ...params,
    action: 'edit_node',
    caller,
  })
  requireSameStatus(body.status, status, { of: NodeStatus, way: 'PUT /admin/nodes/{n}' })
  const { id: _same, ...fields } = body
  const edit = { publisherId, id, fields, ifRev: demandedRev(headers['if-match'], rev) }
  return await unitOfWork(deps, async (sql) => {
    const done = await updateNode(sql, edit, deps)
    if (done.result === 'node_banned') throw errors.nodeBanned(id)
    if (done.result === 'precondition_failed') throw errors.preconditionFailed()
    if (done.result !== 'updated') throw errors.nodeNotFound(id)
    await insertAudit(sql, auditOf(request), {
      action: 'node.update',
      target: auditTarget.node(id),
      ...changesOf(done.before, done.node, fields),
    })
    return { status: 200, body: withWarnings(deps, fields, done.node) }
  })
}

/** Deletes a node; its versions are hidden with it, and its id stays taken. */
export const removeNode = async (
  deps: CommitDeps,
  request: RouteRequest<OfOwnNode>,
): Promise<JsonResponse> => {
  const { params, caller } = request
  const node = await getOwnNodeAccess(deps, { ...params, action: 'delete_node', caller })
  return await unitOfWork(deps, async (sql) => {
    const done = await deleteNode(sql, node)
    if (done === 'node_not_found') throw errors.nodeNotFound(node.id)
    if (done === 'node_banned') throw errors.nodeBanned(node.id)
    if (done === 'version_banned')
      throw apiError(
        'illegal_move',
        'A version of the pack is banned, and whoever has it must be able to see that: only a platform admin deletes the pack.',
      )
    await insertAudit(sql, auditOf(request), {
      action: 'node.delete',
      target: auditTarget.node(node.id),
      before: { status: node.status },
      after: { status: 'NodeStatusDeleted' },
    })
    return { status: 204 }
  })
}

/** Returns a node, or 304 before it is put together. */
export const readNode = async (
  deps: ListDeps,
  { params: { nodeId }, headers, caller }: RouteRequest<OfNode>,
): Promise<JsonResponse> => {
  const { id, revision } = await getNodeAccess(deps, { nodeId, access: 'read', caller })
  const languages = listLanguages(headers)
  const etag = quoteTag([revision, ...languages].join('.'))
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: { etag } }
  const { texts } = deps.cache
  const stored = await withinDeadline(
    deps.sql,
    readNodeText(deps.sql, { id, revision }, { publicUrl: deps.publicUrl, texts }),
  )
  const { text, language } = textInLanguage(stored, languages)
  const headersOf = language === undefined ? { etag } : { etag, 'content-language': language }
  return { status: 200, text, headers: headersOf }
}

/** Returns how often a node was installed, by day and version. */
export const readDownloads = async (
  deps: ListDeps,
  { params: { nodeId }, query, caller }: RouteRequest<OfNode, DownloadQuery>,
): Promise<JsonResponse> => {
  const node = await getNodeAccess(deps, { nodeId, access: 'read', caller })
  const { from, to } = readDays(query, new Date())
  const days = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listDownloads(deps.sql, { nodeId: node.id, from, to })),
  )
  const downloads = days.reduce((sum, day) => sum + day.downloads, 0)
  return { status: 200, body: { from, to, downloads, days } }
}

/** Returns a page of all nodes, in the order they were made. */
export const listAllNodes = async (
  deps: ListDeps,
  { query, caller, headers }: RouteRequest<unknown, NodeListQuery>,
): Promise<JsonResponse> => {
  const { timestamp, ...rest } = seenBy(caller, query)
  const time = timestamp === undefined ? {} : { timestamp: parseListTime(timestamp).toISOString() }
  const asked = { ...rest, ...time }
  // Before the list is read: what is committed in between is in both.
  const next = query.include_removed
    ? await withinDeadline(deps.sql, findNextTimestamp(deps.sql))
    : undefined
  const found = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listNodes(deps.sql, asked, deps)),
  )
  const languages = listLanguages(headers)
  if (next === undefined) return sendPage(deps, query, found, { languages })
  const more = { next_timestamp: next.toISOString() }
  return sendPage(deps, query, found, {
    more,
    filter: toListFilter(asked),
    headers: UNCACHED,
    languages,
  })
}

/** Caching of a walk: with pages of different times a copy would lack what moved from one to the other. */
const UNCACHED = { 'cache-control': 'private, no-cache' }

export const searchAllNodes = async (
  deps: ListDeps,
  { query, caller, headers }: RouteRequest<unknown, NodeSearchQuery>,
): Promise<JsonResponse> => {
  const { host_version: version } = query
  const excluding = version
    ? listExcluding(await withinDeadline(deps.sql, listHostVersions(deps.sql)), version)
    : []
  const seen = {
    ...seenBy(caller, query),
    ...(excluding.length > 0 && { excludedHostVersions: excluding }),
  }
  const found = await deps.searches.run(() =>
    withinDeadline(deps.sql, searchNodes(deps.sql, seen, deps)),
  )
  const languages = listLanguages(headers)
  return sendPage(deps, query, found, { more: await readMore(deps, seen, found), languages })
}

/** Reads what a search returns besides its page: what the request asks for, and what was meant by a term that finds nothing. */
const readMore = async (
  { sql, heavyReadSemaphore, searches, cache }: ListDeps,
  query: Omit<NodeSearch, 'include_banned'>,
  { nodes: { ids }, total }: { nodes: Entries; total: number },
): Promise<Pick<NodePage, 'matched_host_nodes' | 'facets' | 'did_you_mean'>> => {
  const { host_node_search: name, facets } = query
  const filter = toSearchFilter(query)
  const similar =
    total === 0 && (filter.term ?? filter.hostNode) !== undefined
      ? await searches.run(() => withinDeadline(sql, findSimilar(sql, filter)))
      : []
  return {
    ...(name && {
      matched_host_nodes: await withinDeadline(sql, findMatchedHostNodes(sql, ids, name)),
    }),
    ...(similar.length > 0 && { did_you_mean: similar }),
    ...(facets && {
      facets: await heavyReadSemaphore.run(() =>
        withinDeadline(sql, countFacets(sql, filter, cache)),
      ),
    }),
  }
}

type PublisherNodesRequest = RouteRequest<OfPublisher, PublisherNodesQuery>

/** Returns a page of a publisher's nodes as a bare list. */
export const listNodesOfPublisher = async (
  deps: ListDeps,
  request: PublisherNodesRequest,
): Promise<JsonResponse> => {
  const { nodes, total } = await findPublisherNodes(deps, request)
  return makeListResponse(deps, {
    entries: nodes,
    readEntries: (ids) => readNodeEntries(deps.sql, ids, deps),
    headers: { 'x-total-count': String(total) },
    languages: listLanguages(request.headers),
  })
}

/** Returns the same page with its numbers, as all other pages of nodes. */
export const pageNodesOfPublisher = async (
  deps: ListDeps,
  request: PublisherNodesRequest,
): Promise<JsonResponse> =>
  sendPage(deps, request.query, await findPublisherNodes(deps, request), {
    languages: listLanguages(request.headers),
  })

const findPublisherNodes = async (
  deps: ListDeps,
  { params: { publisherId }, query, caller }: PublisherNodesRequest,
) => {
  const { id, role } = await getPublisherAccess(deps, { publisherId, access: 'read', caller })
  // Members see all of theirs, with status and reason.
  const seen = { ...seenBy(caller, query), ...(role !== null && { include_banned: true }) }
  const asked = { ...seen, publisherId: id }
  return await deps.heavyReadSemaphore.run(() =>
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

interface PageForm {
  /** Members beside the members of every page. */
  more?: object
  /** Filter that says which nodes are shown whole. */
  filter?: NodeFilter
  headers?: Record<string, string>
  /** Languages of the reader. */
  languages: readonly string[]
}

const sendPage = (
  deps: ListDeps,
  { page, limit }: { page: number; limit: number },
  { nodes, total }: { nodes: Entries; total: number },
  { more, filter, headers, languages }: PageForm,
): JsonResponse =>
  makeListResponse(deps, {
    entries: nodes,
    readEntries: (ids) => readNodeEntries(deps.sql, ids, { publicUrl: deps.publicUrl, filter }),
    ...(headers && { headers }),
    languages,
    member: 'nodes',
    others: { page, limit, total, totalPages: totalPages(total, limit), ...more },
  })
