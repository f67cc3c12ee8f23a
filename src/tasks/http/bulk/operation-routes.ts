import { randomUUID } from 'node:crypto'

import { Type } from 'typebox'

import { findBulk, beginBulk, lockBulks } from '../../db/bulk/bulk.ts'
import { readOperationCounts, showOperation } from '../../db/bulk/operation.ts'
import type {
  OperationRequest,
  OperationRow,
  OperationRequest as Chosen,
} from '../../db/bulk/operation.ts'
import { withinDeadline, type Queryable } from '../../../platform/db/client.ts'
import { BulkQuery, MAX_ITEMS } from '../../domain/bulk/bulk.ts'
import {
  MadeOperation,
  NewOperation,
  Operation,
  OperationDryRun,
  OperationLine,
  OperationPage,
  ALL_OWNERS,
} from '../../domain/bulk/operation.ts'
import type { OperationFilter } from '../../domain/bulk/operation.ts'
import { SMALL_BODY } from '../../../platform/json-body/body-limits.ts'
import { defineRoute, ok } from '../../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../../platform/http/route.ts'
import { validatePageToken } from '../task/page-token.ts'
import { cancelBulk, getBulk, listOwn, createBulk, type BulkDeps } from './bulk.ts'
import { LINES_TYPE, makeOperationLine, respondWithLines } from './results.ts'
import { CHOICE_MS, chooseTasks, listUnknownTasks } from '../../db/bulk/choice.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { errors, shown } from '../../../platform/domain/errors.ts'
import { makeValidateBounds, validateAll } from '../../../platform/domain/time-bounds.ts'
import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'
import { validationError } from '../../../platform/domain/validation-error.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'

const COMMON = { tag: 'Bulk operations', auth: 'required' } as const
const ID = '7d0f4a52-8c1b-4d8e-9a3f-2b6c5e7d9f11'
const OfOperation = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Id of the operation.' }),
})

/** Operations: one action on all tasks that a filter finds. */
export const makeOperationRoutes = (deps: BulkDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/operations',
    summary: "Act on many of the caller's tasks",
    description:
      'The filter is that of the list. What it finds now, at most 100,000 tasks, is the operation, and each is acted on as its own route does. An empty one needs `all`. With `dry_run` those are counted that can be acted on now.',
    body: {
      ...SMALL_BODY,
      schema: NewOperation,
      adminMembers: ['owner'],
      examples: { cancel: { action: 'cancel', filter: { state: ['waiting', 'queued'] } } },
    },
    responses: {
      200: { description: 'Of a dry run: how many tasks it would be.', schema: OperationDryRun },
      202: {
        description: 'The operation is durable; it runs afterwards.',
        schema: MadeOperation,
        example: { operation_id: ID },
        links: {
          read: {
            method: 'get',
            path: '/operations/:id',
            parameters: { id: '$response.body#/operation_id' },
          },
        },
      },
    },
    errors: ['incompatible_fields', 'too_many_tasks', 'quota_exceeded', 'outcome_unknown'],
    validate: validateOperation,
    handler: (request) => createOperation(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/operations',
    summary: "List the caller's operations, newest first",
    query: BulkQuery,
    responses: ok('The page.', OperationPage),
    errors: [],
    read: 'private',
    validateQuery: ({ query }) => validatePageToken(query['after'], '?after', 'next'),
    handler: (request) =>
      listOwn<OperationRequest>(deps, request, {
        kind: 'operation',
        name: 'operations',
        show: (row) => showOperation(row as OperationRow),
      }),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/operations/:id',
    summary: 'Count the tasks of an operation by what was done',
    description: 'Platform admins read those of all.',
    params: OfOperation,
    responses: ok('The operation.', Operation),
    errors: ['bulk_not_found'],
    read: 'private',
    handler: async (request) => {
      const operation = await getBulk<OperationRow>(deps, request, 'operation')
      return { status: 200, body: await withinDeadline(deps.sql, withCounts(deps.sql, operation)) }
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/operations/:id/results',
    summary: 'Read what was done with each task of an operation',
    description: 'A line of JSON for each, in the order in which they are acted on.',
    params: OfOperation,
    responses: ok('A task a line.', OperationLine, { mediaType: LINES_TYPE }),
    errors: ['bulk_not_found'],
    handler: async (request) => {
      const operation = await getBulk<OperationRow>(deps, request, 'operation')
      const line = makeOperationLine(
        operation.isCancelRequested || operation.endedAt ? 'not_done' : 'pending',
      )
      return respondWithLines(deps, operation, line)
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/operations/:id/cancel',
    summary: 'Stop an operation: what it has done stays done',
    description: 'From the response on no further task is acted on, so its counts are exact.',
    params: OfOperation,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: ok('The operation as it is now.', Operation),
    errors: ['bulk_not_found', 'cannot_cancel', 'outcome_unknown'],
    handler: (request) => {
      const { id } = request.params
      return cancelBulk(deps, request, {
        kind: 'operation',
        show: async (sql) => withCounts(sql, (await findBulk(sql, { id })) as OperationRow),
      })
    },
  }),
]

const withCounts = async (sql: Queryable, operation: OperationRow): Promise<Operation> => ({
  ...showOperation(operation),
  counts: await readOperationCounts(sql, operation),
})

const validateBounds = makeValidateBounds(NewOperation.properties.filter, '/filter/')

/** Rejects a filter that names tasks and says more, and one that names nothing. */
const validateOperation: NonNullable<Route['validate']> = ({ body }): Issue[] => {
  const { task_ids: ids, ...others } = (body['filter'] ?? {}) as OperationFilter
  const sentence = 'must be absent beside other members of the filter, got both'
  return [
    ...(ids === undefined || Object.keys(others).length === 0
      ? []
      : [makeIssue('/filter/task_ids', sentence, 'incompatible_fields')]),
    ...validateBounds(others),
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
const createOperation = async (deps: BulkDeps, request: Request): Promise<SavedResponse> => {
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
