import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { findExtraction } from '../db/extraction.ts'
import { insertReview, listReviews } from '../db/review.ts'
import { listSameContent } from '../db/content.ts'
import { findScan, listFindings } from '../db/scan.ts'
import { listVersionTransitions } from '../db/version-transition.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { VersionFindings } from '../domain/finding.ts'
import { withoutEmail } from '../domain/member.ts'
import { NewReview, Review } from '../domain/review.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { getOwnVersionAccess, getVersionAccess, requireTokenOf } from './access.ts'
import { FINDINGS, REVIEW } from './examples.ts'
import {
  OWN_VERSION_PATH,
  OfOwnVersion,
  OfVersion,
  VERSION_ERRORS,
  VERSION_PATH,
  WRITE_ERRORS,
} from './paths.ts'

const COMMON = { tag: 'Versions' } as const

/** The routes by which a publisher learns why a version was flagged, and asks for a person to look. */
export const makeReviewRoutes = (deps: CommitDeps): Route[] => [
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: `${VERSION_PATH}/findings`,
    summary: 'Read what the checks of a version found',
    description:
      'Everybody sees how many there are. Members of the publisher see all of them, with reviews and moves; and so does a personal access token of it, sent as a bearer token.',
    takesTokens: true,
    params: OfVersion,
    read: 'public',
    responses: ok('The findings.', VersionFindings, { example: FINDINGS }),
    errors: [...VERSION_ERRORS, 'token_scope_insufficient'],
    handler: (request) => readFindings(deps, request),
  }),
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'post',
    path: `${OWN_VERSION_PATH}/review`,
    summary: 'Ask for a review of a flagged version',
    description:
      'For owners of the publisher. One request is open at a time; a decision closes it.',
    params: OfOwnVersion,
    body: {
      ...SMALL_BODY,
      schema: NewReview,
      emptyIsAbsent: 'optional',
      required: false,
      examples: { note: { note: 'The flagged call is in a test.' } },
    },
    responses: created('The request.', Review, { example: REVIEW }),
    errors: [
      'publisher_not_found',
      ...VERSION_ERRORS,
      ...WRITE_ERRORS,
      'version_not_flagged',
      'not_reviewable',
      'review_already_requested',
    ],
    handler: (request) => requestReview(deps, request),
  }),
]

/** Asks for a person to look at a flagged version. */
const requestReview = async (
  deps: CommitDeps,
  request: RouteRequest<OfOwnVersion, unknown, NewReview>,
): Promise<SavedResponse> => {
  const caller = getCaller(request)
  const found = await getOwnVersionAccess(deps, {
    ...request.params,
    action: 'request_review',
    caller,
  })
  const { id: versionId, status, node, version } = found
  const { note } = request.body
  return await unitOfWork(deps, async (sql) => {
    const made = await insertReview(sql, { versionId, note, userId: caller.principal })
    if (made.result === 'version_not_flagged') throw errors.versionNotFlagged(status)
    if (made.result === 'not_reviewable') throw apiError('not_reviewable')
    if (made.result !== 'created') throw errors.reviewAlreadyRequested()
    await insertAudit(sql, auditOf(request), {
      action: 'version.review',
      target: auditTarget.version(node.id, version),
      after: { review: made.review.id },
      reason: note,
    })
    const response = { status: 201, body: made.review }
    return await request.saveIdempotentResponse(sql, response)
  })
}

/** Returns the number of findings; members and platform admins get all that is known of the version. */
const readFindings = async (
  deps: ReadDeps,
  { params, caller }: RouteRequest<OfVersion>,
): Promise<JsonResponse> => {
  const { id, node } = await getVersionAccess(deps, { ...params, access: 'read', caller })
  requireTokenOf(node, caller)
  const isMember = node.role !== null
  const isAdmin = caller?.isPlatformAdmin === true
  const [scan, more] = await withinDeadline(
    deps.sql,
    Promise.all([
      findScan(deps.sql, id),
      isMember || isAdmin ? readDetails(deps, { id, isMember, isAdmin }) : {},
    ]),
  )
  const found: VersionFindings = scan
    ? { counts: scan.counts, scanned_at: scan.scanned_at }
    : { counts: { high: 0, medium: 0, info: 0 } }
  return { status: 200, body: { ...found, ...more } }
}

const readDetails = async (
  { sql }: ReadDeps,
  { id, isMember, isAdmin }: { id: string; isMember: boolean; isAdmin: boolean },
): Promise<Partial<VersionFindings>> => {
  const [findings, extraction, reviews, transitions, same] = await Promise.all([
    listFindings(sql, id, isAdmin),
    findExtraction(sql, id),
    listReviews(sql, id),
    listVersionTransitions(sql, id),
    isAdmin ? listSameContent(sql, { versionId: id }) : undefined,
  ])
  return {
    findings,
    ...(extraction && { extraction }),
    reviews: reviews.map((review) => ({ ...review, by: showUser(review.by, isMember) })),
    moves: transitions.map((transition) => ({
      ...transition,
      actor: showUser(transition.actor, isMember),
    })),
    ...(same && { same_content: same }),
  }
}

/** The id of a user, or `user:<id>`, as the caller may see it: an e-mail address is for members alone. */
const showUser = (text: string, isMember: boolean): string => {
  const { user } = withoutEmail({ id: '', role: 'member', user: { id: text, name: '' } })
  return isMember || user.id !== undefined ? text : 'user'
}
