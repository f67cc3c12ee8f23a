import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { listMembers, putMember, removeMember } from '../db/member.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { MemberList, MemberUpdate, PublisherMember } from '../domain/member.ts'
import { mayRemoveMember, roleFor } from '../domain/role.ts'
import { errors } from '../../platform/domain/errors.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest } from '../../platform/http/route.ts'
import { getPublisherAccess } from './access.ts'
import { MEMBER } from './examples.ts'
import { OfMember, OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH, WRITE_ERRORS } from './paths.ts'

const COMMON = { tag: 'Publishers', auth: 'required' } as const
const MEMBER_PATH = `${PUBLISHER_PATH}/members/:userId`

/** The routes of who belongs to a publisher. */
export const makeMemberRoutes = (deps: CommitDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${PUBLISHER_PATH}/members`,
    summary: 'List the members of a publisher',
    description: 'For its members.',
    params: OfPublisher,
    read: 'private',
    responses: ok('The members, in the order they joined.', MemberList, { example: [MEMBER] }),
    errors: [...PUBLISHER_ERRORS, 'forbidden'],
    handler: (request) => listPublisherMembers(deps, request),
  }),
  defineRoute({
    ...COMMON,
    auth: 'jwt',
    method: 'put',
    path: MEMBER_PATH,
    summary: 'Add a member, or change their role',
    description: 'For owners. Whoever is added must have signed in once.',
    params: OfMember,
    body: { ...SMALL_BODY, schema: MemberUpdate, examples: { admin: { role: 'admin' } } },
    responses: ok('The member.', PublisherMember, { example: MEMBER }),
    errors: [...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'user_not_found', 'last_owner'],
    handler: (request) => setMember(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: MEMBER_PATH,
    summary: 'Remove a member',
    description:
      'For owners, and for everybody who leaves. The tokens that the member created are revoked.',
    params: OfMember,
    responses: { 204: { description: 'The user is no member any more.' } },
    errors: [...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'member_not_found', 'last_owner'],
    handler: (request) => endMembership(deps, request),
  }),
]

const listPublisherMembers = async (
  deps: ReadDeps,
  { params: { publisherId }, caller }: RouteRequest<OfPublisher>,
): Promise<JsonResponse> => {
  const asked = { publisherId, access: 'read', action: 'list_members', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return { status: 200, body: await withinDeadline(deps.sql, listMembers(deps.sql, id)) }
}

/** Adds a member or changes their role. */
const setMember = async (
  deps: CommitDeps,
  request: RouteRequest<OfMember, unknown, MemberUpdate>,
): Promise<JsonResponse> => {
  const { caller, params, body } = request
  const { publisherId, userId } = params
  const { role } = body
  const asked = { publisherId, access: 'write', action: 'set_member', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return await unitOfWork(deps, async (sql) => {
    const put = await putMember(sql, { publisherId: id, userId, role })
    if (put.result === 'user_not_found') throw errors.userNotFound(userId)
    if (put.result === 'last_owner') throw errors.lastOwner()
    if (put.before !== role)
      await insertAudit(sql, auditOf(request), {
        action: 'member.put',
        target: auditTarget.publisher(id),
        before: { user: userId, role: put.before },
        after: { user: userId, role },
      })
    return { status: 200, body: put.member }
  })
}

/** Ends a membership, and with it the tokens that the member created. */
const endMembership = async (
  deps: CommitDeps,
  request: RouteRequest<OfMember>,
): Promise<JsonResponse> => {
  const { publisherId, userId } = request.params
  const caller = getCaller(request)
  const { id, role } = await getPublisherAccess(deps, { publisherId, access: 'write', caller })
  const actor = { userId: caller.principal, role: role ?? undefined }
  if (!mayRemoveMember(actor, userId)) throw errors.roleTooLow(roleFor('remove_member'), role)
  return await unitOfWork(deps, async (sql) => {
    const result = await removeMember(sql, { publisherId: id, userId })
    if (result === 'member_not_found') throw errors.memberNotFound(userId)
    if (result === 'last_owner') throw errors.lastOwner()
    const [target, before] = [auditTarget.publisher(id), { user: userId, ...result }]
    await insertAudit(sql, auditOf(request), { action: 'member.remove', target, before })
    return { status: 204 }
  })
}
