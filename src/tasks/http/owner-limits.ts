import { withinDeadline, type Transaction } from '../../platform/db/client.ts'
import { findUser } from '../../identity/db/app-user.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import { RULES } from '../../platform/db/change-notification.ts'
import { findOwnerLimits, listOwnerLimits, putOwnerLimits } from '../db/owner-limit.ts'
import { unitOfWork, type Enqueue, type UnitDeps } from '../../platform/db/unit-of-work.ts'
import { admitOwner, type AdmissionRules } from '../db/admission.ts'
import { auditTarget, type AuditAction } from '../../platform/domain/audit-log.ts'
import { apiError, shown } from '../../platform/domain/errors.ts'
import type { NewOwnerLimits, OwnerLimits } from '../domain/owner-limit.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import { makeAudit } from '../../identity/http/access/audit.ts'
import type { JsonResponse, RouteRequest } from '../../platform/http/route.ts'

type OfOwner = { owner: string }
type LimitDeps = UnitDeps & AdmissionRules

export const readOwners = async (
  { sql }: ReadDeps,
  request: RouteRequest,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  return { status: 200, body: { owners: await withinDeadline(sql, listOwnerLimits(sql)) } }
}

export const readOwner = async (
  { sql }: ReadDeps,
  request: RouteRequest<OfOwner>,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  const { owner } = request.params
  const found = await withinDeadline(sql, findOwnerLimits(sql, owner))
  if (!found) throw notFound(owner)
  return { status: 200, body: found }
}

const notFound = (owner: string) =>
  apiError('owner_not_found', `No owner ${shown(owner)} has made anything or has limits.`)

/** Sets the limits of an owner. More slots are given to its videos that wait at once. */
export const setOwnerLimits = async (
  deps: LimitDeps,
  request: RouteRequest<OfOwner, unknown, NewOwnerLimits>,
): Promise<JsonResponse> => {
  const limits = request.body
  return { status: 200, body: await put(deps, request, { action: 'owner.limit', limits }) }
}

/** Takes the limits of an owner away: the limits of the settings hold again. */
export const resetOwnerLimits = async (
  deps: LimitDeps,
  request: RouteRequest<OfOwner>,
): Promise<JsonResponse> => {
  await put(deps, request, { action: 'owner.reset', limits: undefined })
  return { status: 204 }
}

const put = async (
  deps: LimitDeps,
  request: RouteRequest<OfOwner>,
  { action, limits }: { action: AuditAction; limits: NewOwnerLimits | undefined },
): Promise<OwnerLimits | undefined> => {
  const audit = makeAudit(request)
  const { owner } = request.params
  const find = (sql: Transaction) => findOwnerLimits(sql, owner)
  const set = async (sql: Transaction, enqueue: Enqueue): Promise<OwnerLimits | undefined> => {
    const before = await find(sql)
    if (!limits && before?.set_by === undefined)
      throw apiError('owner_not_found', `Owner ${shown(owner)} has no limits of its own.`)
    await putOwnerLimits(sql, { owner, by: limits ? audit.actor : null, limits: limits ?? {} })
    await admitOwner(sql, { ...deps, owner, enqueue })
    const after = await find(sql)
    const target = auditTarget.owner(owner)
    await insertAudit(sql, audit, { action, target, before: said(before), after: said(after) })
    return after && { ...after, ...(await warnOfUnknown(sql, owner)) }
  }
  return await unitOfWork(deps, set, { of: RULES })
}

/** Warns that nobody with an id has called yet: it is mistyped, or they are still to come. */
export const warnOfUnknown = async (
  sql: Transaction,
  owner: string,
): Promise<Pick<OwnerLimits, 'warnings'>> =>
  (await findUser(sql, owner))
    ? {}
    : { warnings: [`Nobody with the id ${shown(owner)} has called this service yet.`] }

/** The members that an admin sets. */
const said = ({
  used: _used,
  set_at: _at,
  set_by: _by,
  owner: _owner,
  ...limits
}: Partial<OwnerLimits> = {}) => limits
