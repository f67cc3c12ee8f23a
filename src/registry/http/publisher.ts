import { changesOf, insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import {
  existsPublisher,
  getPublisher,
  insertPublisher,
  listBannedOfMembers,
  listPublishers,
  updatePublisher,
} from '../db/publisher.ts'
import type { PublisherListFilter } from '../db/publisher.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { errors } from '../../platform/domain/errors.ts'
import { withoutEmail } from '../domain/member.ts'
import type {
  NewPublisher,
  OwnPublisherListQuery,
  Publisher,
  PublisherIdQuery,
  PublisherListQuery,
  PublisherUpdate,
} from '../domain/publisher.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { demandedRev, tagOfRow } from '../../platform/http/serve/etag.ts'
import { writeUser } from '../../identity/http/access/user-recorder.ts'
import { getPublisherAccess } from './access.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import type { PublisherDeps, RecordDeps } from './deps.ts'
import type { OfPublisher } from './paths.ts'
import { withWarnings } from './warn.ts'

/** Creates a publisher; the caller becomes its owner. */
export const createPublisher = (
  deps: PublisherDeps,
  request: RouteRequest<unknown, unknown, NewPublisher>,
): Promise<SavedResponse> =>
  unitOfWork({ sql: deps.sql }, async (sql) => {
    const limit = deps.maxPublishersPerUser
    const caller = getCaller(request)
    const publisher = request.body
    // The publisher refers to its creator's row, which a database that was made again does not have.
    await writeUser(sql, caller)
    const made = await insertPublisher(sql, { publisher, userId: caller.principal, limit }, deps)
    if (made.result === 'publisher_exists') throw errors.publisherExists(publisher.id)
    if (made.result === 'publisher_limit_reached') throw errors.publisherLimitReached(limit)
    const target = auditTarget.publisher(made.publisher.id)
    await insertAudit(sql, auditOf(request), {
      action: 'publisher.create',
      target,
      after: publisher,
    })
    const body = withWarnings(deps, publisher, made.publisher)
    const response = { status: 201, body }
    return await request.saveIdempotentResponse(sql, response)
  })

/** Responds that an id is free. Its form has been validated. */
export const validatePublisherId = async (
  { sql }: ReadDeps,
  { query: { username } }: RouteRequest<unknown, PublisherIdQuery>,
): Promise<JsonResponse> => {
  if (await withinDeadline(sql, existsPublisher(sql, username)))
    throw errors.publisherIdTaken(username)
  return { status: 200, body: { isAvailable: true } }
}

export const readPublisher = async (
  deps: RecordDeps,
  { params: { publisherId }, caller }: RouteRequest<OfPublisher>,
): Promise<JsonResponse> => {
  const { id, role, rev } = await getPublisherAccess(deps, { publisherId, access: 'read', caller })
  const [publisher, banned] = await withinDeadline(
    deps.sql,
    Promise.all([
      getPublisher(deps.sql, id, deps),
      caller?.isPlatformAdmin ? listBannedOfMembers(deps.sql, id) : undefined,
    ]),
  )
  const text = JSON.stringify({
    ...showPublisher(publisher, role !== null),
    ...(banned && { banned_publishers: banned }),
  })
  return { status: 200, text, headers: { etag: tagOfRow(rev, text) } }
}

export const editPublisher = async (
  deps: Omit<PublisherDeps, 'maxPublishersPerUser'>,
  request: RouteRequest<OfPublisher, unknown, PublisherUpdate>,
): Promise<JsonResponse> => {
  const { params, body: fields, headers, caller } = request
  const { publisherId } = params
  const { id, rev } = await getPublisherAccess(deps, {
    publisherId,
    access: 'write',
    action: 'edit_publisher',
    caller,
  })
  const edit = { id, fields, ifRev: demandedRev(headers['if-match'], rev) }
  return await unitOfWork(deps, async (sql) => {
    const done = await updatePublisher(sql, edit, deps)
    if (done.result === 'precondition_failed') throw errors.preconditionFailed()
    if (done.result !== 'updated') throw errors.publisherNotFound(publisherId)
    await insertAudit(sql, auditOf(request), {
      action: 'publisher.update',
      target: auditTarget.publisher(id),
      ...changesOf(done.before, done.publisher, fields),
    })
    return { status: 200, body: withWarnings(deps, fields, done.publisher) }
  })
}

/** Returns a page of all active publishers, or for platform admins of a status that they ask for. */
export const listAllPublishers = (
  deps: RecordDeps,
  { query: { status, ...page }, caller }: RouteRequest<unknown, PublisherListQuery>,
): Promise<JsonResponse> =>
  respondWithPublishers(deps, { ...page, ...(caller?.isPlatformAdmin && { status }) })

/** Returns a page of the caller's publishers, or of all active ones when nobody has signed in. */
export const listOwnPublishers = (
  deps: RecordDeps,
  { query, caller }: RouteRequest<unknown, OwnPublisherListQuery>,
): Promise<JsonResponse> => respondWithPublishers(deps, { ...query, userId: caller?.principal })

const respondWithPublishers = async (
  deps: RecordDeps,
  filter: PublisherListFilter,
): Promise<JsonResponse> => {
  const { sql } = deps
  const { publishers, total } = await withinDeadline(sql, listPublishers(sql, filter, deps))
  const body = publishers.map((publisher) => showPublisher(publisher, filter.userId !== undefined))
  return { status: 200, body, headers: { 'x-total-count': String(total) } }
}

/** A publisher as a caller may see it: e-mail addresses are for its members. */
export const showPublisher = (publisher: Publisher, isMember: boolean): Publisher =>
  isMember ? publisher : { ...publisher, members: publisher.members.map(withoutEmail) }
