import { withinDeadline } from '../../db/client.ts'
import { findExtraction } from '../../db/registry/extraction.ts'
import { insertReview, listReviews } from '../../db/registry/review.ts'
import { findScan, listFindings } from '../../db/registry/scan.ts'
import { listVersionTransitions } from '../../db/registry/version-transition.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { errors, shown } from '../../domain/shared/errors.ts'
import type { VersionFindings } from '../../domain/registry/finding.ts'
import type { NewReview } from '../../domain/registry/review.ts'
import { getCaller } from '../access/caller.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import { getOwnVersionAccess, getVersionAccess } from './access.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'
import type { OfOwnVersion, OfVersion } from './paths.ts'
import { showUser } from './visible.ts'

/** Asks for a person to look at a flagged version. */
export const requestReview = async (
  deps: CommitDeps,
  request: RouteRequest<OfOwnVersion, unknown, NewReview>,
): Promise<SavedResponse> => {
  const caller = getCaller(request)
  const { id: versionId, status } = await getOwnVersionAccess(deps, {
    ...request.params,
    action: 'request_review',
    caller,
  })
  const { note } = request.body
  return await unitOfWork(deps, async (sql) => {
    const made = await insertReview(sql, { versionId, note, userId: caller.principal })
    if (made.result === 'version_not_flagged') throw errors.versionNotFlagged(status)
    if (made.result !== 'created') throw errors.reviewAlreadyRequested()
    const response = { status: 201, body: made.review }
    return await request.saveIdempotentResponse(sql, response)
  })
}

/** Returns the number of findings; members and platform admins get all that is known of the version. */
export const readFindings = async (
  deps: ReadDeps,
  { params, caller }: RouteRequest<OfVersion>,
): Promise<JsonResponse> => {
  const { id, node } = await getVersionAccess(deps, { ...params, access: 'read', caller })
  const { publisherId, nodeId } = caller?.token ?? {}
  if (publisherId !== undefined && publisherId !== node.publisherId)
    throw errors.tokenScopeInsufficient('is one of another publisher')
  if (nodeId !== undefined && nodeId !== null && nodeId !== node.id)
    throw errors.tokenScopeInsufficient(`is only for the node ${shown(nodeId)}`)
  const isMember = node.role !== null
  const [scan, more] = await withinDeadline(
    deps.sql,
    Promise.all([
      findScan(deps.sql, id),
      isMember || caller?.isPlatformAdmin ? readDetails(deps, { id, isMember }) : {},
    ]),
  )
  const found: VersionFindings = scan
    ? { counts: scan.counts, scanned_at: scan.scanned_at }
    : { counts: { high: 0, medium: 0, info: 0 } }
  return { status: 200, body: { ...found, ...more } }
}

const readDetails = async (
  { sql }: ReadDeps,
  { id, isMember }: { id: string; isMember: boolean },
): Promise<Partial<VersionFindings>> => {
  const [findings, extraction, reviews, transitions] = await Promise.all([
    listFindings(sql, id),
    findExtraction(sql, id),
    listReviews(sql, id),
    listVersionTransitions(sql, id),
  ])
  return {
    findings,
    ...(extraction && { extraction }),
    reviews: reviews.map((review) => ({ ...review, by: showUser(review.by, isMember) })),
    moves: transitions.map((transition) => ({
      ...transition,
      actor: showUser(transition.actor, isMember),
    })),
  }
}
