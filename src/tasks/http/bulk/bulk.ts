import { withinDeadline, type Transaction } from '../../../platform/db/client.ts'
import { existsBulk, findBulk, insertBulk, listBulks, requestCancel } from '../../db/bulk/bulk.ts'
import type { BulkRow, NewBulk } from '../../db/bulk/bulk.ts'
import { CHOICE_MS } from '../../db/bulk/choice.ts'
import { insertAudit } from '../../../platform/db/audit-log.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { MAX_OPEN, showState, type BulkKind, type BulkQuery } from '../../domain/bulk/bulk.ts'
import { auditTarget } from '../../../platform/domain/audit-log.ts'
import { apiError, shown } from '../../../platform/domain/errors.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import { signalCancelBulk, startBulk } from '../../temporal/bulk.ts'
import { auditOf } from '../../../identity/http/access/audit.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'
import { placeOf } from '../any/list.ts'
import type { CommitDeps, ReadDeps } from '../../../platform/http/deps.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../../../platform/http/route.ts'
import { makePageToken } from '../task/page-token.ts'
import type { InputDeps } from '../../deps.ts'

/** Dependencies of batches and operations. */
export interface BulkDeps extends CommitDeps, InputDeps {
  taskQueue: string
}

/**
 * Makes one durable together with the start of its workflow; `choose` gives an operation its tasks. Throws 429 when its
 * owner has as many open as may be.
 */
export const createBulk = (
  deps: BulkDeps,
  request: RouteRequest,
  { bulk, body, choose }: { bulk: NewBulk; body: object; choose?(sql: Transaction): Promise<void> },
): Promise<SavedResponse> =>
  unitOfWork(
    deps,
    async (sql, enqueue) => {
      const { keyId: apiKeyId } = getCaller(request)
      if (!(await insertBulk(sql, { ...bulk, apiKeyId })))
        throw apiError(
          'quota_exceeded',
          `One owner has at most ${MAX_OPEN} batches and operations that have not ended.`,
        )
      await choose?.(sql)
      if (bulk.kind === 'operation')
        await insertAudit(sql, auditOf(request), {
          action: 'operation.create',
          target: auditTarget.bulk(bulk.kind, bulk.id),
          after: bulk.request,
        })
      await enqueue(startBulk(bulk, deps))
      return await request.saveIdempotentResponse(sql, { status: 202, body })
    },
    {
      at: 'create',
      wasCommitted: () => existsBulk(deps.sql, bulk.id),
      ...(choose && { statementMs: CHOICE_MS }),
    },
  )

/** One of the caller's, or for an admin anybody's; from the path. Throws 404. */
export const getBulk = async <Row extends BulkRow>(
  { sql }: ReadDeps,
  request: RouteRequest<{ id: string }>,
  kind: BulkKind,
): Promise<Row> => {
  const { owner, isPlatformAdmin } = getCaller(request)
  const { id } = request.params
  const whose = kind === 'operation' && isPlatformAdmin ? undefined : owner
  const found = isUuid(id)
    ? await withinDeadline(sql, findBulk(sql, { id, kind, owner: whose }))
    : undefined
  if (!found) throw apiError('bulk_not_found', `There is no ${kind} ${shown(id)} of the caller.`)
  return found as Row
}

/** Asks one to stop. What was done is known from then on, because no further item takes effect. */
export const cancelBulk = async (
  deps: CommitDeps,
  request: RouteRequest<{ id: string }>,
  { kind, show }: { kind: BulkKind; show(sql: Transaction): Promise<object> },
): Promise<SavedResponse> => {
  const { id } = await getBulk(deps, request, kind)
  return await unitOfWork(deps, async (sql, enqueue) => {
    const before = await requestCancel(sql, id)
    if (!before)
      throw apiError('cannot_cancel', `The ${kind} has ended and can no longer be cancelled.`)
    await insertAudit(sql, auditOf(request), {
      action: `${kind}.cancel`,
      target: auditTarget.bulk(kind, id),
      before: { state: showState(before) },
      after: { state: 'cancelling' },
    })
    await enqueue(signalCancelBulk({ kind, id }))
    return await request.saveIdempotentResponse(sql, { status: 200, body: await show(sql) })
  })
}

/** Lists a page of the caller's. */
export const listOwn = async <Request>(
  { sql }: ReadDeps,
  request: RouteRequest<unknown, BulkQuery>,
  { kind, name, show }: { kind: BulkKind; name: string; show(row: BulkRow<Request>): object },
): Promise<JsonResponse> => {
  const { after, limit } = request.query
  const { owner } = getCaller(request)
  const found = listBulks<Request>(sql, { owner, kind, after: placeOf(after), limit })
  const { rows, next } = await withinDeadline(sql, found)
  return {
    status: 200,
    body: { [name]: rows.map(show), ...(next && { next: makePageToken(next) }) },
  }
}
