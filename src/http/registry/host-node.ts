import { createHash, timingSafeEqual } from 'node:crypto'

import { withinDeadline } from '../../db/client.ts'
import { listHostNodes, readHostNodeEntries } from '../../db/registry/host-node-list.ts'
import { findHostNode, findNodeOfHostNode, putHostNodes } from '../../db/registry/host-node.ts'
import type { HostNodeResult } from '../../db/registry/host-node.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { errors } from '../../domain/shared/errors.ts'
import { isSuccess, toHostNodeRow } from '../../domain/registry/host-node-validation.ts'
import type { HostNodeListQuery, HostNodeRegistration } from '../../domain/registry/host-node.ts'
import { totalPages } from '../../domain/registry/registry-fields.ts'
import type { CredentialHeaders } from '../access/auth.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import { getVersionAccess } from './access.ts'
import type { ReadDeps } from '../deps.ts'
import type { HostNodeDeps, ListDeps, RecordDeps } from './deps.ts'
import { makeListResponse } from './list-response.ts'
import type { OfHostNode, OfHostNodeName, OfVersion } from './paths.ts'

/** Makes the check of the credential that registers host nodes. It throws 401. */
export const makeAuthorizeExtractor =
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
export const registerHostNodes = async (
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

export const listHostNodesOfVersion = async (
  deps: ListDeps,
  { params, query, caller }: RouteRequest<OfVersion, HostNodeListQuery>,
): Promise<JsonResponse> => {
  const { page, limit, search } = query
  const { id: versionId } = await getVersionAccess(deps, { ...params, access: 'read', caller })
  const { hostNodes, total } = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listHostNodes(deps.sql, { versionId, search, page, limit })),
  )
  return makeListResponse(deps, {
    entries: hostNodes,
    readEntries: (names) => readHostNodeEntries(deps.sql, { versionId, names }),
    member: 'host_nodes',
    others: { page, limit, total, totalNumberOfPages: totalPages(total, limit) },
  })
}

export const readHostNode = async (
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
export const readNodeOfHostNode = async (
  deps: RecordDeps,
  { params: { hostNodeName: name } }: RouteRequest<OfHostNodeName>,
): Promise<JsonResponse> => {
  const body = await withinDeadline(deps.sql, findNodeOfHostNode(deps.sql, name, deps))
  if (!body) throw errors.hostNodeNotFound(name)
  return { status: 200, body }
}
