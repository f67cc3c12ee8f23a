import { createHash, timingSafeEqual } from 'node:crypto'

import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { listHostNodes, readHostNodeEntries } from '../db/host-node-list.ts'
import {
  confirmHostNodes,
  findHostNode,
  findNodeOfHostNode,
  putHostNodes,
} from '../db/host-node.ts'
import type { HostNodeResult } from '../db/host-node.ts'
import { getVersion } from '../db/version.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { isSuccess, toHostNodeRow, validateRegistration } from '../domain/host-node-validation.ts'
import {
  HostNodeWithExamples,
  HostNodeListQuery,
  HostNodePage,
  HostNodeRegistration,
} from '../domain/host-node.ts'
import { inLanguage } from '../domain/translations.ts'
import { NodeOfHostNode } from '../domain/node.ts'
import { totalPages } from '../../platform/domain/schema-fields.ts'
import { Version } from '../domain/version.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import type { CredentialHeaders } from '../../platform/http/access/caller.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import { demandedRev } from '../../platform/http/serve/etag.ts'
import { listLanguages } from '../../platform/http/serve/negotiate.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { getOwnVersionAccess, getVersionAccess, requireTokenOf } from './access.ts'
import type { HostNodeDeps, ListDeps, RecordDeps } from './deps.ts'
import { HOST_NODE, NODE, VERSION } from './examples.ts'
import { makeListResponse } from './list-response.ts'
import {
  OWN_VERSION_PATH,
  OfHostNode,
  OfHostNodeName,
  OfOwnVersion,
  OfVersion,
  VERSION_ERRORS,
  VERSION_PATH,
  WRITE_ERRORS,
  queryOf,
} from './paths.ts'

const COMMON = { tag: 'Host nodes', unread: 'ignored' } as const
const HOST_NODES_PATH = `${VERSION_PATH}/host-nodes`

/** 5,000 host nodes with three JSON texts each. */
const REGISTRATION_BODY = {
  maxBytes: 16_777_216,
  memoryBytes: 16_777_216,
  maxMembers: 1_000_000,
  deadlineMs: 30_000,
} as const

/** The routes of the node classes that a version brings. */
export const makeHostNodeRoutes = (deps: HostNodeDeps): Route[] => [
  register(deps),
  confirm(deps),
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
    description:
      'All of them at once, or why they could not be read. Members of the publisher (bearer token, API key or personal access token) and holders of EXTRACTION_TOKEN may report until the archive was read, and also when it could not be; their next success replaces the one before. Without a credential a report is a hint, with the extract status `reported`: it owns no name and no search finds it, until a reading or a later report replaces it, or a member confirms it; a failure changes nothing. The 204 is the same for all: `host_node_extract_status` and `host_nodes.source` of the version say what counts.',
    params: OfVersion,
    body: {
      ...REGISTRATION_BODY,
      schema: HostNodeRegistration,
      emptyIsAbsent: 'optional',
      examples: {
        success: {
          success: true,
          nodes: { BlurImage: { function: 'blur', return_types: ['IMAGE'] } },
        },
        failure: { success: false, reason: 'the archive could not be imported' },
      },
    },
    responses: { 204: { description: 'They are stored.' } },
    errors: [
      ...VERSION_ERRORS,
      'token_scope_insufficient',
      'registration_closed',
      'already_registered',
      'outcome_unknown',
    ],
    validate: ({ body }) => validateRegistration(body),
    handler: (request) => registerHostNodes(deps, request),
  })

const authOf = ({ extractionToken: token }: HostNodeDeps) =>
  ({
    auth: token === undefined ? 'optional' : 'required',
    takesTokens: true,
    hasOwnSecret: (headers: CredentialHeaders) => isExtractor(headers, token),
  }) as const

const confirm = (deps: HostNodeDeps): Route =>
  defineRoute({
    tag: 'Host nodes',
    auth: 'required',
    method: 'post',
    path: `${OWN_VERSION_PATH}/confirm-host-nodes`,
    summary: 'Confirm the host nodes that a stranger has reported',
    description:
      'For members of the publisher. From then on they count as read: they own their names and searches find them. Send the ETag of the version with which they were looked at as If-Match: another report may have come since.',
    params: OfOwnVersion,
    requestHeaders: ['If-Match'],
    responses: ok('The version as it is now.', Version, { example: VERSION }),
    errors: [
      'publisher_not_found',
      ...VERSION_ERRORS,
      ...WRITE_ERRORS,
      'precondition_failed',
      'nothing_to_confirm',
    ],
    handler: (request) => confirmReport(deps, request),
  })

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
    responses: ok('A page of host nodes.', HostNodePage, {
      example: { host_nodes: [HOST_NODE], page: 1, limit: 10, total: 1, totalNumberOfPages: 1 },
    }),
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
    responses: ok('The host node.', HostNodeWithExamples, { example: HOST_NODE }),
    errors: [...VERSION_ERRORS, 'host_node_not_found'],
    handler: (request) => readHostNode(deps, request),
  })

const readNode = (deps: RecordDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'none',
    method: 'get',
    path: '/host-nodes/:hostNodeName/node',
    summary: 'Find the pack that a host node belongs to',
    description:
      'Of the packs that have the name in their latest version and whose policy does not ban it, the first by preemption, search_ranking, how long an active version has claimed the name, and id. Installs do not count.',
    params: OfHostNodeName,
    requestHeaders: ['Accept-Language'],
    read: 'public',
    responses: ok('The pack.', NodeOfHostNode, {
      headers: ['Content-Language'],
      example: { ...NODE, other_node_ids: ['image-tools-fork'] },
    }),
    errors: ['host_node_not_found'],
    handler: (request) => readNodeOfHostNode(deps, request),
  })

/** True when a request has EXTRACTION_TOKEN as its bearer token. */
const isExtractor = (headers: CredentialHeaders, extractionToken: string | undefined): boolean => {
  const given = [headers['authorization'] ?? []].flat()
  const token = /^bearer +(\S+) *$/i.exec(given[0] ?? '')?.[1]
  return (
    given.length === 1 &&
    token !== undefined &&
    extractionToken !== undefined &&
    timingSafeEqual(digest(token), digest(extractionToken))
  )
}

/** Digests are equally long, as timingSafeEqual needs it. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Stores the host nodes of a version, or why they could not be read. */
const registerHostNodes = async (
  deps: HostNodeDeps,
  request: RouteRequest<OfVersion, unknown, HostNodeRegistration>,
): Promise<SavedResponse> => {
  const { params, caller } = request
  const { nodeId, version } = params
  const found = await getVersionAccess(deps, { ...params, access: 'write', caller })
  const { id: versionId, node } = found
  requireTokenOf(node, caller)
  if (caller?.token?.scope === 'read') throw errors.tokenScopeInsufficient('is only for reading')
  const isTrusted = isExtractor(request.incoming.headersDistinct, deps.extractionToken)
  const isHint = !isTrusted && node.role === null
  if (isHint && deps.extractionToken !== undefined)
    throw apiError('registration_closed', `Here ${REPORTERS} report host nodes, and nobody else.`)
  const put = {
    versionId,
    source: isTrusted ? 'trusted' : 'reported',
    isHint,
    by: caller?.principal,
    result: toResult(request.body),
    buildInfo: request.body.cloud_build_info,
  } as const
  return await unitOfWork(deps, async (sql) => {
    const done = await putHostNodes(sql, put)
    if (done === 'version_not_found') throw errors.versionNotFound(nodeId, version)
    if (done === 'already_registered') throw errors.alreadyRegistered()
    if (done === 'archive_rejected')
      throw apiError(
        'registration_closed',
        `The archive of ${shown(version)} was rejected, so it has no host nodes to report: mend it and publish the same version again.`,
      )
    if (done === 'registration_closed')
      throw apiError(
        'registration_closed',
        `The host nodes of ${shown(version)} could not be read from its archive (host_node_extract_reason of the version says why); now ${REPORTERS} may report them, and nobody else.`,
      )
    const { result } = put
    const after = result.success ? { host_nodes: result.nodes.size } : { reason: result.reason }
    const target = auditTarget.version(node.id, found.version)
    // A stranger's hint counts for nothing, and whoever sends many would fill the log.
    if (!isHint)
      await insertAudit(sql, auditOf(request), { action: 'host_node.report', target, after })
    const response = { status: 204 }
    return await request.saveIdempotentResponse(sql, response)
  })
}

const REPORTERS =
  'members of the publisher (with bearer token, API key or personal access token) and holders of EXTRACTION_TOKEN'

/** Makes what a stranger has reported count, for a member. */
const confirmReport = async (
  deps: HostNodeDeps,
  request: RouteRequest<OfOwnVersion>,
): Promise<SavedResponse> => {
  const caller = getCaller(request)
  const asked = { ...request.params, action: 'edit_version', caller } as const
  const { id, rev, node, version } = await getOwnVersionAccess(deps, asked)
  const ifRev = demandedRev(request.headers['if-match'], rev)
  return await unitOfWork(deps, async (sql) => {
    const done = await confirmHostNodes(sql, { versionId: id, by: caller.principal, ifRev })
    if (done === 'precondition_failed') throw errors.preconditionFailed()
    if (done !== 'confirmed') throw apiError(done)
    await insertAudit(sql, auditOf(request), {
      action: 'host_node.confirm',
      target: auditTarget.version(node.id, version),
      before: { host_node_extract_status: 'reported' },
      after: { host_node_extract_status: 'success' },
    })
    const response = { status: 200, body: await getVersion(sql, id, deps) }
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
  { params: { hostNodeName: name }, headers }: RouteRequest<OfHostNodeName>,
): Promise<JsonResponse> => {
  const found = await withinDeadline(deps.sql, findNodeOfHostNode(deps.sql, name, deps))
  if (!found) throw errors.hostNodeNotFound(name)
  const { node: body, language } = inLanguage(found, listLanguages(headers))
  return {
    status: 200,
    body,
    ...(language !== undefined && { headers: { 'content-language': language } }),
  }
}
