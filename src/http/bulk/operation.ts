import { randomUUID } from 'node:crypto'

import { withinDeadline } from '../../db/client.ts'
import { listChosen } from '../../db/bulk/bulk-item.ts'
import { countTasks, readTaskQuery } from '../../db/task/task-list.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { MOST_ITEMS } from '../../domain/bulk/bulk.ts'
import { ALL_OWNERS, type NewOperation, type OperationFilter } from '../../domain/bulk/operation.ts'
import { makeIssue, type Issue } from '../../domain/shared/validate.ts'
import { getCaller } from '../access/caller.ts'
import type { ReadDeps } from '../deps.ts'
import type { Route, RouteRequest, SavedResponse } from '../route.ts'
import { createBulk, type BulkDeps } from './bulk.ts'

/** Rejects a filter that names tasks and says more. */
export const validateOperation: NonNullable<Route['validate']> = ({ body }): Issue[] => {
  const { task_ids: ids, ...others } = (body['filter'] ?? {}) as OperationFilter
  if (ids === undefined || Object.keys(others).length === 0) return []
  const sentence = 'must be absent beside other members of the filter, got both'
  return [makeIssue('/filter/task_ids', sentence, 'incompatible_fields')]
}

type OperationRequest = RouteRequest<unknown, unknown, NewOperation>

/** Owner of the tasks that are acted on; undefined: any. */
const findOwner = (request: OperationRequest): string | undefined => {
  const { owner, isPlatformAdmin } = getCaller(request)
  const { owner: named = owner } = isPlatformAdmin ? request.body : {}
  return named === ALL_OWNERS ? undefined : named
}

/** Makes an operation on the tasks that a filter finds, or counts them. */
export const createOperation = async (
  deps: BulkDeps,
  request: OperationRequest,
): Promise<SavedResponse> => {
  const of = findOwner(request)
  const { action, filter, dry_run: isDry } = request.body
  if (isDry) return await countMatches(deps, request, of)
  const { owner } = getCaller(request)
  const id = randomUUID()
  const what = { action, filter, ...(of !== undefined && { of }) }
  const bulk = { id, kind: 'operation', owner, request: what } as const
  return await createBulk(deps, request, { bulk, body: { operation_id: id } })
}

const countMatches = async (
  deps: BulkDeps,
  request: OperationRequest,
  of: string | undefined,
): Promise<SavedResponse> => {
  const matched = await withinDeadline(deps.sql, count(deps, request.body.filter, of))
  const response = { status: 200, body: { dry_run: true, matched } }
  return await unitOfWork(deps, (sql) => request.saveIdempotentResponse(sql, response))
}

const count = async (
  { sql }: ReadDeps,
  { task_ids: ids, ...query }: OperationFilter,
  owner: string | undefined,
): Promise<number> =>
  ids
    ? (await listChosen(sql, { ids, owner })).length
    : await countTasks(sql, { ...readTaskQuery(query), owner, families: undefined }, MOST_ITEMS)
