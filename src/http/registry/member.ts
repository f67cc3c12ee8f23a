import { withinDeadline } from '../../db/client.ts'
import { listMembers, putMember, removeMember } from '../../db/registry/member.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { MemberUpdate } from '../../domain/registry/member.ts'
import { mayRemoveMember, roleFor } from '../../domain/registry/role.ts'
import { getCaller } from '../access/caller.ts'
import type { JsonResponse, RouteRequest } from '../route.ts'
import { getPublisherAccess } from './access.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'
import type { OfMember, OfPublisher } from './paths.ts'

export const listPublisherMembers = async (
  deps: ReadDeps,
  { params: { publisherId }, caller }: RouteRequest<OfPublisher>,
): Promise<JsonResponse> => {
  const asked = { publisherId, access: 'read', action: 'list_members', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return { status: 200, body: await withinDeadline(deps.sql, listMembers(deps.sql, id)) }
}

/** Adds a member or changes their role. */
export const setMember = async (
  deps: CommitDeps,
  { params, body: { role }, caller }: RouteRequest<OfMember, unknown, MemberUpdate>,
): Promise<JsonResponse> => {
  const { publisherId, userId } = params
  const asked = { publisherId, access: 'write', action: 'set_member', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  const put = await unitOfWork(deps, (sql) => putMember(sql, { publisherId: id, userId, role }))
  if (put.result === 'user_not_found') throw errors.userNotFound(userId)
  if (put.result === 'last_owner') throw errors.lastOwner()
  return { status: 200, body: put.member }
}

/** Ends a membership, and with it the tokens that the member created. */
export const endMembership = async (
  deps: CommitDeps,
  request: RouteRequest<OfMember>,
): Promise<JsonResponse> => {
  const { publisherId, userId } = request.params
  const caller = getCaller(request)
  const { id, role } = await getPublisherAccess(deps, { publisherId, access: 'write', caller })
  const actor = { userId: caller.principal, role: role ?? undefined }
  if (!mayRemoveMember(actor, userId)) throw errors.roleTooLow(roleFor('remove_member'))
  const result = await unitOfWork(deps, (sql) => removeMember(sql, { publisherId: id, userId }))
  if (result === 'member_not_found') throw errors.memberNotFound(userId)
  if (result === 'last_owner') throw errors.lastOwner()
  return { status: 204 }
}
