import { withinDeadline } from '../../platform/db/client.ts'
import { changesOf, insertAudit, offsetOf } from '../../platform/db/audit-log.ts'
import { countDownload } from '../db/download.ts'
import { getNode } from '../db/node.ts'
import {
  listNodeVersions,
  listVersions,
  listVersionsInBulk,
  readVersionEntries,
} from '../db/search/version-list.ts'
import type { BulkVersionRow } from '../db/search/version-list.ts'
import type { VersionForm } from '../db/search/version-statements.ts'
import { deleteVersion, findPreRelease, getVersion, updateVersion } from '../db/version.ts'
import type { VersionFacts } from '../db/version.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { totalPages } from '../../platform/domain/schema-fields.ts'
import type {
  BulkVersion,
  BulkVersionsBody,
  NodeVersionsQuery,
  VersionIdentifier,
  VersionListQuery,
} from '../domain/version-query.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import { VersionStatus } from '../domain/version.ts'
import type { InstallQuery, OwnVersionUpdate, Version } from '../domain/version.ts'
import { nodeCondition, nodeRejection, versionRejection } from '../domain/visibility.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import { demandedRev, isKnown, quoteTag } from '../../platform/http/serve/etag.ts'
import { respondAfterChange } from '../../platform/http/live/prefer.ts'
import type { LiveDeps } from '../../platform/http/live/prefer.ts'
import type { JsonResponse, RouteRequest } from '../../platform/http/route.ts'
import {
  getNodeAccess,
  getOwnVersionAccess,
  getVersionAccess,
  requireSameStatus,
} from './access.ts'
import type { CommitDeps } from '../../platform/http/deps.ts'
import type { ListDeps, RecordDeps, RegistryDeps, VersionDeps } from './deps.ts'
import { makeListResponse } from './list-response.ts'
import type { OfNode, OfOwnVersion, OfVersion } from './paths.ts'

/** Sets changelog and deprecation; tags and dependencies until the first install. */
export const editVersion = async (
  deps: RegistryDeps,
  request: RouteRequest<OfOwnVersion, unknown, OwnVersionUpdate>,
): Promise<JsonResponse> => {
  const { params, body, headers, caller } = request
  const { node, id, rev, status, version } = await getOwnVersionAccess(deps, {
    ...params,
    action: 'edit_version',
    caller,
  })
  const { status: given, ...fields } = body
  const way = 'PUT /admin/nodes/{n}/versions/{v}'
  requireSameStatus(given, status, { of: VersionStatus, way })
  const ifRev = demandedRev(headers['if-match'], rev)
  const edit = { publisherId: node.publisherId, nodeId: node.id, id, fields, ifRev }
  return await unitOfWork(deps, async (sql) => {
    const done = await updateVersion(sql, edit, deps)
    if (done.result === 'precondition_failed') throw errors.preconditionFailed()
    if (done.result === 'version_installed' || done.result === 'version_checked')
      throw apiError('illegal_move', SETTLED[done.result])
    if (done.result !== 'updated') throw makeRejection(done.result, params)
    await insertAudit(sql, auditOf(request), {
      action: 'version.update',
      target: auditTarget.version(node.id, version),
      ...changesOf(done.before, done.version, fields),
    })
    return { status: 200, body: done.version }
  })
}

const SETTLED = {
  version_installed:
    'Somebody has installed the version, so its tags and dependencies stay: publish a higher number.',
  version_checked:
    'The dependencies were checked with the archive, so none can be added: publish a higher number.',
} as const

/** Deletes a version; its number is never free again. */
export const removeVersion = async (
  deps: CommitDeps,
  request: RouteRequest<OfOwnVersion>,
): Promise<JsonResponse> => {
  const { params } = request
  const caller = getCaller(request)
  const { node, id, status, version } = await getOwnVersionAccess(deps, {
    ...params,
    action: 'delete_version',
    caller,
  })
  const own = { publisherId: node.publisherId, nodeId: node.id, id, userId: caller.principal }
  return await unitOfWork(deps, async (sql) => {
    const done = await deleteVersion(sql, own)
    if (done === 'illegal_move')
      throw apiError('illegal_move', `What is ${status} is deleted by a platform admin alone.`)
    if (done !== 'deleted') throw makeRejection(done, params)
    await insertAudit(sql, auditOf(request), {
      action: 'version.delete',
      target: auditTarget.version(node.id, version),
      before: { status },
      after: { status: 'NodeVersionStatusDeleted' },
    })
    return { status: 204 }
  })
}

/** Makes the error of what has changed between the read and the lock. */
const makeRejection = (
  result: 'node_not_found' | 'node_banned' | 'version_not_found',
  { nodeId, versionId }: OfOwnVersion,
) => {
  if (result === 'node_not_found') return errors.nodeNotFound(nodeId)
  return result === 'node_banned'
    ? errors.nodeBanned(nodeId)
    : errors.versionNotFound(nodeId, versionId)
}

/** Headers of a version that may be waited for: it is read again soon, so no cache may respond for us or hold others back. */
const UNSETTLED = { 'retry-after': '2', 'cache-control': 'private, no-cache' }

/** Returns true where the findings that withhold a version are shown: to members and platform admins. */
const seesFindings = ({ node, status }: VersionFacts, caller: Caller | undefined): boolean =>
  (status === 'NodeVersionStatusFlagged' || status === 'NodeVersionStatusBanned') &&
  (node.role !== null || caller?.isPlatformAdmin === true)

/** Returns a version in any status but Deleted, or 304 before it is put together. */
export const readVersion = (
  deps: RecordDeps & LiveDeps,
  request: RouteRequest<OfVersion>,
): Promise<JsonResponse> => {
  const find = async () =>
    await getVersionAccess(deps, { ...request.params, access: 'read', caller: request.caller })
  return respondAfterChange(deps, request, {
    findId: async () => (await find()).id,
    read: async (known) => {
      const facts = await find()
      const { id, revision, hasSettled } = facts
      const withFindings = seesFindings(facts, request.caller)
      const etag = quoteTag(withFindings ? `${revision}.findings` : revision)
      const headers = { etag, ...(hasSettled ? {} : UNSETTLED) }
      if (isKnown(known, etag)) return { status: 304, headers }
      const record = getVersion(deps.sql, id, { ...deps, withFindings })
      const body = await withinDeadline(deps.sql, record)
      return { status: 200, body, headers }
    },
  })
}

export const listVersionsOfNode = async (
  deps: ListDeps,
  { params: { nodeId }, query, caller }: RouteRequest<OfNode, NodeVersionsQuery>,
): Promise<JsonResponse> => {
  const { id } = await getNodeAccess(deps, { nodeId, access: 'read', caller })
  const asked = { nodeId: id, statuses: query.statuses }
  const entries = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listNodeVersions(deps.sql, asked, deps)),
  )
  return makeListResponse(deps, { entries, readEntries: readEntriesOf(deps) })
}

const readEntriesOf =
  ({ sql, publicUrl }: RecordDeps, form: VersionForm = {}) =>
  (ids: readonly string[]) =>
    readVersionEntries(sql, ids, { publicUrl, ...form })

/** Returns a page of the versions of all listed nodes, newest first. */
export const listAllVersions = async (
  deps: ListDeps,
  { query, caller }: RouteRequest<unknown, VersionListQuery>,
): Promise<JsonResponse> => {
  const { page, pageSize, statuses, status_reason: reason, nodeId, review_requested, sort } = query
  const isModerated = caller?.isPlatformAdmin ?? false
  const form = { isModerated, isByReview: isModerated && sort === 'review' }
  const reviewRequested = isModerated ? form.isByReview || review_requested : undefined
  const filter = {
    statuses,
    reason: reason || undefined,
    nodeId: nodeId || undefined,
    reviewRequested,
  }
  const asked = { filter, offset: offsetOf(page, pageSize), limit: pageSize, form }
  const { versions, total } = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listVersions(deps.sql, asked, deps)),
  )
  return makeListResponse(deps, {
    entries: versions,
    readEntries: readEntriesOf(deps, form),
    member: 'versions',
    others: { page, pageSize, total, totalPages: totalPages(total, pageSize) },
  })
}

/** Returns the version to install, the latest of the channel unless one is named, and counts a download. */
export const installVersion = async (
  deps: VersionDeps,
  { params: { nodeId }, query, caller, incoming }: RouteRequest<OfNode, InstallQuery>,
): Promise<JsonResponse> => {
  const body =
    query.version === undefined
      ? await getLatestVersion(deps, nodeId, query.channel)
      : await getInstallable(deps, { nodeId, version: query.version, caller })
  // HEAD changes nothing, so it counts no install.
  if (incoming.method !== 'HEAD')
    await withinDeadline(
      deps.sql,
      countDownload(deps.sql, { nodeId: body.node_id, versionId: body.id }),
    )
  return { status: 200, body: withLink(deps, body), headers: { 'cache-control': 'no-store' } }
}

/** Signs the address of the archive where it needs a credential: what installs may be unable to send one. */
const withLink = ({ registryReads, publicUrl, signer, now }: VersionDeps, version: Version) => {
  const { downloadUrl } = version
  if (registryReads === 'public' || downloadUrl === undefined) return version
  const path = downloadUrl.slice(publicUrl.replace(/\/+$/, '').length)
  return { ...version, downloadUrl: signer.signRead(path, now()) }
}

const getLatestVersion = async (
  deps: RecordDeps,
  nodeId: string,
  channel: InstallQuery['channel'],
): Promise<Version> => {
  const { id } = await getNodeAccess(deps, { nodeId, access: 'install', caller: undefined })
  if (channel === 'pre') {
    const pre = await withinDeadline(deps.sql, findPreRelease(deps.sql, id))
    if (pre !== undefined) return await withinDeadline(deps.sql, getVersion(deps.sql, pre, deps))
  }
  const { latest_version: latest } = await withinDeadline(deps.sql, getNode(deps.sql, id, deps))
  if (!latest) throw errors.versionNotInstallable(id)
  return latest
}

const getInstallable = async (
  deps: RecordDeps,
  named: OfVersion & Pick<RouteRequest, 'caller'>,
): Promise<Version> => {
  const { id } = await getVersionAccess(deps, { ...named, access: 'install' })
  return await withinDeadline(deps.sql, getVersion(deps.sql, id, deps))
}

/** Returns many versions at once, each with its status. */
export const readVersionsInBulk = async (
  deps: ListDeps,
  request: RouteRequest<unknown, unknown, BulkVersionsBody>,
): Promise<JsonResponse> => {
  const asked = distinct(request.body.node_versions)
  const pairs = asked.map(({ node_id: nodeId, version }) => ({
    nodeId,
    canonical: parseVersionNumber(version)?.canonical,
  }))
  const rows = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, listVersionsInBulk(deps.sql, pairs, deps)),
  )
  const found = asked.map((identifier, index) => toBulkVersion(identifier, rows[index]))
  return { status: 200, body: { node_versions: found } }
}

const ASK_AGAIN = 'The response is full: request this version again, alone or with fewer others.'

/** Each identifier once, where it stood first. */
const distinct = (asked: readonly VersionIdentifier[]): VersionIdentifier[] => [
  ...new Map(asked.map((one) => [JSON.stringify([one.node_id, one.version]), one])).values(),
]

const toBulkVersion = (
  identifier: VersionIdentifier,
  row: BulkVersionRow | undefined,
): BulkVersion => {
  const notFound = {
    identifier,
    status: 'not_found' as const,
    error_message: errors.versionNotFound(identifier.node_id, identifier.version).message,
  }
  if (!row) return notFound
  const rejection = nodeRejection(nodeCondition(row.nodeStatus, row.publisherStatus), 'read')
  if (rejection === 'node_not_found' || versionRejection(row.status, 'read')) return notFound
  if (rejection === undefined && row.version)
    return { identifier, status: 'success', node_version: row.version }
  if (rejection === undefined) return { identifier, status: 'error', error_message: ASK_AGAIN }
  const { message } =
    rejection === 'publisher_banned'
      ? apiError('publisher_banned')
      : errors.nodeBanned(identifier.node_id)
  return { identifier, status: 'error', error_message: message }
}
