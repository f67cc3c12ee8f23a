import { withinDeadline, type Sql, type Transaction } from '../../platform/db/client.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import { RULES } from '../../platform/db/change-notification.ts'
import { countPauseEffect, endPause, listPauses, putPause } from '../db/pause.ts'
import { listSlots } from '../db/worker.ts'
import { unitOfWork, type UnitDeps } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import { pastExpiry } from '../../platform/domain/expiry.ts'
import {
  toPublicPauses,
  validateScope,
  type NewPause,
  type Pause,
  type PublicPause,
} from '../domain/pause.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import { warnOfUnknown } from './owner-limits.ts'
import type { ReadDeps } from '../../platform/http/deps.ts'
import { makeAudit } from '../../identity/http/access/audit.ts'
import type { JsonResponse, RouteRequest } from '../../platform/http/route.ts'

/** Pauses as callers may see them, read every few seconds: every page of the console asks. */
export interface PublicPauses {
  /** Returns what it has read. */
  refresh(): Promise<readonly Pause[]>
  list(): readonly PublicPause[]
}

export const makePublicPauses = (sql: Sql): PublicPauses => {
  let known: readonly PublicPause[] = []
  let [asked, shown] = [0, 0]
  return {
    async refresh() {
      const turn = (asked += 1)
      const read = await withinDeadline(sql, listPauses(sql))
      // One that began earlier does not undo a later one.
      if (turn > shown) [known, shown] = [toPublicPauses(read), turn]
      return read
    },
    list: () => known,
  }
}

export const readPauses = async (
  { sql }: ReadDeps,
  request: RouteRequest,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  return { status: 200, body: { pauses: await withinDeadline(sql, listPauses(sql)) } }
}

type OfScope = { scope: string }

export const readPauseEffect = async (
  { sql }: ReadDeps,
  request: RouteRequest<OfScope>,
): Promise<JsonResponse> => {
  requirePlatformAdmin(getCaller(request))
  const { scope } = request.params
  const [issue] = validateScope(scope)
  if (issue) throw errors.validationFailed([issue.message])
  return { status: 200, body: await withinDeadline(sql, countPauseEffect(sql, scope)) }
}

export interface PauseDeps extends UnitDeps {
  pauses: PublicPauses
}

/** Shows a change to the callers of this api at once. Where that fails they read it some seconds later. */
const showAtOnce = async ({ pauses }: PauseDeps): Promise<void> => {
  await pauses.refresh().catch(() => {})
}

/** Pauses a scope. Once it has responded, nothing of the scope begins. */
export const setPause = async (
  deps: PauseDeps,
  request: RouteRequest<OfScope, unknown, NewPause>,
): Promise<JsonResponse> => {
  const audit = makeAudit(request)
  const { scope } = request.params
  const { reason, until } = request.body
  const set = async (sql: Transaction): Promise<Pause> => {
    const { before, after } = await putPause(sql, {
      scope,
      reason,
      until: until === undefined ? undefined : new Date(until),
      by: audit.actor,
    })
    if (!after) throw errors.validationFailed([pastExpiry(until ?? '', 'until').message])
    const change = { action: 'pause.set', target: auditTarget.pause(scope), reason } as const
    await insertAudit(sql, audit, { ...change, before: before ?? {}, after })
    const [subject, name = ''] = scope.split(/:(.*)/s)
    if (subject === 'owner') return { ...after, ...(await warnOfUnknown(sql, name)) }
    return subject === 'engine' ? { ...after, ...(await warnOfUnserved(sql, name)) } : after
  }
  const body = await unitOfWork(deps, set, { of: RULES })
  await showAtOnce(deps)
  return { status: 200, body }
}

/** Warns that no worker serves an engine: its name is mistyped, or its workers are still to come. */
const warnOfUnserved = async (sql: Transaction, name: string): Promise<Pick<Pause, 'warnings'>> => {
  const [engine = ''] = name.split(':')
  const isServed = engine in (await listSlots(sql))
  return isServed ? {} : { warnings: [`No worker serves an engine ${shown(engine)}.`] }
}

/** Ends a pause, and closes the breaker of an engine. */
export const resume = async (
  deps: PauseDeps,
  request: RouteRequest<OfScope>,
): Promise<JsonResponse> => {
  const audit = makeAudit(request)
  const { scope } = request.params
  const end = async (sql: Transaction): Promise<void> => {
    const before = await endPause(sql, scope)
    if (!before) throw apiError('pause_not_found', `Nothing pauses ${shown(scope)}.`)
    const change = { action: 'pause.end', target: auditTarget.pause(scope) } as const
    await insertAudit(sql, audit, { ...change, before, after: {} })
  }
  await unitOfWork(deps, end, { of: RULES })
  await showAtOnce(deps)
  return { status: 204 }
}
