import { Type } from 'typebox'

import { findBulk } from '../../db/bulk/bulk.ts'
import { readOperationCounts, showOperation } from '../../db/bulk/operation.ts'
import type { OperationRequest, OperationRow } from '../../db/bulk/operation.ts'
import { withinDeadline, type Queryable } from '../../../platform/db/client.ts'
import { BulkQuery } from '../../domain/bulk/bulk.ts'
import {
  MadeOperation,
  NewOperation,
  Operation,
  OperationDryRun,
  OperationLine,
  OperationPage,
} from '../../domain/bulk/operation.ts'
import { SMALL_BODY } from '../../../platform/json-body/body-limits.ts'
import { defineRoute, type Route } from '../../../platform/http/route.ts'
import { validatePageToken } from '../task/page-token.ts'
import { cancelBulk, getBulk, listOwn, type BulkDeps } from './bulk.ts'
import { createOperation, validateOperation } from './operation.ts'
import { LINES_TYPE, makeOperationLine, respondWithLines } from './results.ts'

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
    responses: { 200: { description: 'The page.', schema: OperationPage } },
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
    responses: { 200: { description: 'The operation.', schema: Operation } },
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
    responses: {
      200: { description: 'A task a line.', schema: OperationLine, mediaType: LINES_TYPE },
    },
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
    responses: { 200: { description: 'The operation as it is now.', schema: Operation } },
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
