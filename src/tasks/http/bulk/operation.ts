import { randomUUID } from 'node:crypto'

import { beginBulk, lockBulks } from '../../db/bulk/bulk.ts'
import { CHOICE_MS, chooseTasks, listUnknownTasks } from '../../db/bulk/choice.ts'
import type { OperationRequest as Chosen } from '../../db/bulk/operation.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { MAX_ITEMS } from '../../domain/bulk/bulk.ts'
import { ALL_OWNERS, NewOperation, type OperationFilter } from '../../domain/bulk/operation.ts'
import { errors, shown } from '../../../platform/domain/errors.ts'
import { validateAll, validateBounds } from '../../../platform/domain/time-bounds.ts'
import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'
import { validationError } from '../../../platform/domain/validation-error.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'
import type { Route, RouteRequest, SavedResponse } from '../../../platform/http/route.ts'
import { createBulk, type BulkDeps } from './bulk.ts'

/** Rejects a filter that names tasks and says more, and one that names nothing. */
export const validateOperation: NonNullable<Route['validate']> = ({ body }): Issue[] => {
  const { task_ids: ids, ...others } = (body['filter'] ?? {}) as OperationFilter
  const sentence = 'must be absent beside other members of the filter, got both'
  return [
    ...(ids === undefined || Object.keys(others).length === 0
      ? []
      : [makeIssue('/filter/task_ids', sentence, 'incompatible_fields')]),
    ...validateBounds(NewOperation.properties.filter, others, '/filter/'),
    ...validateAll(body['filter'] ?? {}, body['all'], '/filter'),
  ]
}

type Request = RouteRequest<unknown, unknown, NewOperation>

/** Owner of the tasks that are acted on; undefined: any. */
const findOwner = (request: Request): string | undefined => {
  const { owner, isPlatformAdmin } = getCaller(request)
  const { owner: named = owner } = isPlatformAdmin ? request.body : {}
  return named === ALL_OWNERS ? undefined : named
}

/** Makes an operation on the tasks that a filter finds, or counts them. */
export const createOperation = async (deps: BulkDeps, request: Request): Promise<SavedResponse> => {
  const { owner } = getCaller(request)
  const { action, filter, dry_run: isDry } = request.body
  const of = findOwner(request)
  const what = { action, filter, ...(of !== undefined && { of }) }
  if (isDry) return await countTasks(deps, request, what)
  const id = randomUUID()
  const bulk = { id, kind: 'operation', owner, request: what } as const
  return await createBulk(deps, request, {
    bulk,
    body: { operation_id: id },
    async choose(sql) {
      const { found } = await choose(sql, what, id)
      await beginBulk(sql, { id, total: found })
    },
  })
}

/** Counts the tasks that an operation would act on, as it would choose them. */
const countTasks = (deps: BulkDeps, request: Request, what: Chosen): Promise<SavedResponse> =>
  unitOfWork(
    deps,
    async (sql) => {
      await lockBulks(sql, getCaller(request).owner)
      const { possible } = await choose(sql, what)
      const response = { status: 200, body: { dry_run: true, matched: possible } }
      return await request.saveIdempotentResponse(sql, response)
    },
    { statementMs: CHOICE_MS },
  )

/** Chooses the tasks, or counts them. Throws 400 for too many, and for ids of no task. */
const choose: typeof chooseTasks = async (sql, what, bulkId) => {
  const { filter, of } = what
  const unknown = await listUnknownTasks(sql, { ids: filter.task_ids ?? [], of })
  const whose = of === undefined ? '' : ' of its owner'
  const issues = unknown.map(({ at, id }) =>
    makeIssue(`/filter/task_ids/${at}`, `must be the id of a task${whose}, got ${shown(id)}`),
  )
  const error = validationError(issues, { query: {}, body: { filter } })
  if (error) throw error
  const chosen = await chooseTasks(sql, what, bulkId)
  if (chosen.found > MAX_ITEMS) throw errors.tooManyTasks(chosen.found, MAX_ITEMS)
  return chosen
}
