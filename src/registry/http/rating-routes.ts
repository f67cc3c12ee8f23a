import { changesOf, insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline, type Queryable, type Transaction } from '../../platform/db/client.ts'
import { findNodeFacts, getNode } from '../db/node.ts'
import { findRating, listRatings } from '../db/rating-list.ts'
import { decideRating, deleteRating, putRating, putReply, putReport } from '../db/rating.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { Node } from '../domain/node.ts'
import {
  Rating,
  RatingDecision,
  RatingPage,
  RatingQuery,
  RatingReply,
  RatingReport,
  RatingUpdate,
  ReportedRatingQuery,
  StarQuery,
  showRating,
} from '../domain/rating.ts'
import { totalPages } from '../../platform/domain/schema-fields.ts'
import { validateDepth } from '../domain/search-depth.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { auditOf, makeAudit } from '../../identity/http/access/audit.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest } from '../../platform/http/route.ts'
import { getNodeAccess, getOwnNodeAccess } from './access.ts'
import type { RatingDeps } from './deps.ts'
import { NODE, RATING } from './examples.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfNode,
  OfNodeReview,
  OfOwnNodeReview,
  WRITE_ERRORS,
  queryOf,
} from './paths.ts'

const COMMON = { tag: 'Packs', auth: 'required' } as const
const REVIEWS = '/nodes/:nodeId/reviews'
const MINE = `${REVIEWS}/mine`
const REVIEW = `${REVIEWS}/:reviewId`
const WRITE = [...NODE_ERRORS, ...WRITE_ERRORS] as const
const ERRORS = [...WRITE, 'review_not_found'] as const
const PAGE = { page: 1, limit: 10, total: 1, totalPages: 1, distribution: [0, 0, 0, 1, 0] }

const REVIEW_NOW = {
  200: { description: 'The review as it is now.', schema: Rating, example: RATING },
}

const pageOf = (review: object) => ({
  200: {
    description: 'A page of reviews.',
    schema: RatingPage,
    example: { ...PAGE, reviews: [review] },
  },
})

/** The routes of what users say of nodes. */
export const makeRatingRoutes = (deps: RatingDeps): Route[] => [
  list(deps),
  ...ofAuthor(deps),
  report(deps),
  reply(deps),
  listReported(deps),
  moderate(deps),
]

const viewerOf = (caller: Caller | undefined) => ({
  userId: caller?.principal,
  isAdmin: caller?.isPlatformAdmin ?? false,
})

type List = Pick<Parameters<typeof listRatings>[1], 'nodeId' | 'includeHidden'>

const readPage = async (
  { sql }: RatingDeps,
  { query, caller }: RouteRequest<unknown, { page: number; limit: number }>,
  list: List,
): Promise<JsonResponse> => {
  const { page, limit } = query
  const asked = listRatings(sql, { ...list, page, limit }, viewerOf(caller))
  const { reviews, ...found } = await withinDeadline(sql, asked)
  const numbers = { ...found, page, limit, totalPages: totalPages(found.total, limit) }
  return { status: 200, body: { reviews: reviews.map(showRating), ...numbers } }
}

const getRating = async (
  sql: Queryable,
  key: Parameters<typeof findRating>[1],
  caller: Caller | undefined,
): Promise<JsonResponse> => {
  const rating = await findRating(sql, key, viewerOf(caller))
  if (!rating) throw errors.reviewNotFound()
  return { status: 200, body: showRating(rating) }
}

/** The review in a path. Throws 404 for what is no id. */
const keyOf = (nodeId: string, { reviewId }: { reviewId: string }) => {
  if (!isUuid(reviewId)) throw errors.reviewNotFound()
  return { nodeId, id: reviewId.toLowerCase() }
}

/** Changes a review and returns it. Throws 404 when `work` finds none. */
const change = (
  deps: RatingDeps,
  { key, caller }: { key: { nodeId: string; id: string }; caller: Caller | undefined },
  work: (sql: Transaction) => Promise<boolean>,
): Promise<JsonResponse> =>
  unitOfWork(deps, async (sql) => {
    if (!(await work(sql))) throw errors.reviewNotFound()
    return await getRating(sql, key, caller)
  })

const list = (deps: RatingDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'optional',
    method: 'get',
    path: REVIEWS,
    summary: 'List the reviews of a pack',
    params: OfNode,
    ...queryOf(RatingQuery),
    read: 'public',
    responses: pageOf(RATING),
    errors: NODE_ERRORS,
    validateQuery: ({ query }) =>
      validateDepth(query, { size: 'limit', reach: deps.searchMaxDepth }),
    handler: async (request) => {
      const { params, query, caller } = request
      const { id: nodeId } = await getNodeAccess(deps, { ...params, access: 'read', caller })
      const includeHidden = caller?.isPlatformAdmin === true && query.include_hidden === true
      return await readPage(deps, request, { nodeId, includeHidden })
    },
  })

/** Writes the caller's review, and responds in the same transaction. */
const rate = async <Response>(
  deps: RatingDeps,
  request: Pick<RouteRequest<{ nodeId: string }>, 'params' | 'caller' | 'requestId' | 'ip'>,
  { version, ...fields }: RatingUpdate,
  respond: (sql: Transaction, key: { nodeId: string; authorId: string }) => Promise<Response>,
): Promise<Response> => {
  const caller = getCaller(request)
  const { id: nodeId } = await getNodeAccess(deps, { ...request.params, access: 'write', caller })
  const canonical = version && parseVersionNumber(version)?.canonical
  if (version && !canonical) throw errors.versionNotFound(nodeId, version)
  const author = { nodeId, userId: caller.principal }
  const put = { ...author, fields, canonical, minAgeHours: deps.reviewMinAgeHours }
  const key = { nodeId, authorId: caller.principal }
  const find = async (sql: Transaction): Promise<object> =>
    (await findRating(sql, key, viewerOf(caller))) ?? {}
  return await unitOfWork(deps, async (sql) => {
    const before = await find(sql)
    const written = await putRating(sql, put)
    if (written === 'node_not_found') throw errors.nodeNotFound(nodeId)
    if (written === 'version_not_found') throw errors.versionNotFound(nodeId, version ?? '')
    if (written === 'is_member')
      throw apiError('forbidden', 'Members of the publisher do not review its packs.')
    await insertAudit(sql, auditOf(request), {
      action: 'review.put',
      target: auditTarget.node(nodeId),
      ...changesOf(before, await find(sql), { ...fields, ...(canonical && { version }) }),
    })
    return await respond(sql, key)
  })
}

const ofAuthor = (deps: RatingDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: MINE,
    summary: 'Read one’s own review of a pack',
    description: 'Also while nobody else sees it.',
    params: OfNode,
    read: 'private',
    responses: REVIEW_NOW,
    errors: [...NODE_ERRORS, 'review_not_found'],
    handler: async ({ params, caller }) => {
      const { id: nodeId } = await getNodeAccess(deps, { ...params, access: 'read', caller })
      const key = { nodeId, authorId: getCaller({ caller }).principal }
      return await withinDeadline(deps.sql, getRating(deps.sql, key, caller))
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'put',
    path: MINE,
    summary: 'Review a pack, or edit one’s review',
    description:
      'A user has one review of a pack. An absent text or version keeps its value, an empty one clears it. Not for members of the publisher.',
    params: OfNode,
    body: {
      ...SMALL_BODY,
      schema: RatingUpdate,
      emptyIsAbsent: 'optional',
      examples: { stars: { stars: 5 }, text: { stars: 4, text: 'Fast.', version: '1.2.0' } },
    },
    responses: REVIEW_NOW,
    errors: [...WRITE, 'version_not_found'],
    handler: (request) =>
      rate(deps, request, request.body, (sql, key) => getRating(sql, key, request.caller)),
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: REVIEWS,
    unread: 'ignored',
    summary: 'Set the stars of one’s review of a pack',
    params: OfNode,
    ...queryOf(StarQuery),
    responses: ok('The pack as it is now.', Node, { example: NODE }),
    errors: WRITE,
    handler: (request) =>
      rate(deps, request, { stars: request.query.star }, async (sql, { nodeId }) => {
        const response = { status: 200, body: await getNode(sql, nodeId, deps) }
        return await request.saveIdempotentResponse(sql, response)
      }),
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: MINE,
    summary: 'Delete one’s own review of a pack',
    params: OfNode,
    responses: { 204: { description: 'The review is deleted.' } },
    errors: ERRORS,
    handler: async (request) => {
      const { params, caller } = request
      const { id: nodeId } = await getNodeAccess(deps, { ...params, access: 'write', caller })
      const { principal: userId } = getCaller(request)
      return await unitOfWork(deps, async (sql) => {
        const rating = await findRating(sql, { nodeId, authorId: userId }, viewerOf(caller))
        if (!(await deleteRating(sql, { nodeId, userId })) || !rating) throw errors.reviewNotFound()
        const { id: review, stars, text } = rating
        await insertAudit(sql, auditOf(request), {
          action: 'review.delete',
          target: auditTarget.node(nodeId),
          before: { review, stars, text },
        })
        return { status: 204 }
      })
    },
  }),
]

const report = (deps: RatingDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'post',
    path: `${REVIEW}/report`,
    summary: 'Report a review to the platform admins',
    description: 'A user has one open report of a review: another one replaces its reason.',
    params: OfNodeReview,
    body: { ...SMALL_BODY, schema: RatingReport, examples: { spam: { reason: 'advertisement' } } },
    responses: { 204: { description: 'The review is reported.' } },
    errors: ERRORS,
    handler: async (request) => {
      const { params, body, caller } = request
      const { id: nodeId } = await getNodeAccess(deps, { ...params, access: 'write', caller })
      const key = { ...keyOf(nodeId, params), userId: getCaller(request).principal }
      return await unitOfWork(deps, async (sql) => {
        if (!(await putReport(sql, { ...key, ...body }))) throw errors.reviewNotFound()
        return await request.saveIdempotentResponse(sql, { status: 204 })
      })
    },
  })

const reply = (deps: RatingDeps): Route =>
  defineRoute({
    ...COMMON,
    method: 'put',
    path: `${OWN_NODE_PATH}/reviews/:reviewId/reply`,
    summary: 'Reply to a review',
    description: 'For members of the publisher. A review has one reply; an empty text deletes it.',
    params: OfOwnNodeReview,
    body: { ...SMALL_BODY, schema: RatingReply, examples: { thanks: { text: 'Thank you.' } } },
    responses: REVIEW_NOW,
    errors: ['publisher_not_found', ...ERRORS],
    handler: async (request) => {
      const { params, body, caller } = request
      const asked = { ...params, action: 'reply_to_review', caller } as const
      const key = keyOf((await getOwnNodeAccess(deps, asked)).id, params)
      return await change(deps, { key, caller }, async (sql) => {
        const before = await findRating(sql, key, viewerOf(caller))
        if (!(await putReply(sql, { ...key, ...body }))) return false
        await insertAudit(sql, auditOf(request), {
          action: 'review.reply',
          target: auditTarget.node(key.nodeId),
          before: { review: key.id, reply: before?.reply ?? null },
          after: { review: key.id, reply: body.text },
        })
        return true
      })
    },
  })

const listReported = (deps: RatingDeps): Route =>
  defineRoute({
    ...COMMON,
    tag: 'Registry admin',
    method: 'get',
    path: '/admin/reviews',
    summary: 'List the reviews that are reported, those with the most reports first',
    ...queryOf(ReportedRatingQuery),
    read: 'private',
    responses: pageOf({ ...RATING, reports: ['An advertisement.'] }),
    errors: ['forbidden'],
    validateQuery: ({ query }) =>
      validateDepth(query, { size: 'limit', reach: deps.searchMaxDepth }),
    handler: async (request) => {
      requirePlatformAdmin(getCaller(request))
      return await readPage(deps, request, { nodeId: undefined, includeHidden: false })
    },
  })

const moderate = (deps: RatingDeps): Route =>
  defineRoute({
    ...COMMON,
    tag: 'Registry admin',
    method: 'put',
    path: `/admin${REVIEW}`,
    summary: 'Hide a review, or show it again',
    description:
      'A hidden one does not count, and stays hidden when its author edits or writes it again. Either decision closes its reports. A repeat changes nothing.',
    params: OfNodeReview,
    body: {
      ...SMALL_BODY,
      schema: RatingDecision,
      examples: { hide: { status: 'hidden', reason: 'an advertisement' } },
    },
    responses: REVIEW_NOW,
    errors: ['node_not_found', ...WRITE_ERRORS, 'review_not_found'],
    handler: async (request) => {
      const { params, body: fields, caller } = request
      const audit = makeAudit(request)
      const asked = findNodeFacts(deps.sql, { id: params.nodeId, userId: undefined })
      const node = await withinDeadline(deps.sql, asked)
      if (!node) throw errors.nodeNotFound(params.nodeId)
      const key = keyOf(node.id, params)
      return await change(deps, { key, caller }, (sql) =>
        decideRating(sql, { ...key, fields, audit }),
      )
    },
  })
