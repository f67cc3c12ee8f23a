import { Type } from 'typebox'

import {
  FailReason,
  OperatedTask,
  Operations,
  RestartReason,
  RestartedVersion,
} from '../../domain/task/operations.ts'
import { listEmptyIsAbsent } from '../../domain/registry/registry-fields.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import {
  FAIL_TASK,
  RESTART_TASK,
  RESTART_VERSION,
  readOperations,
  runCommand,
} from './operations.ts'
import type { OperationsDeps } from './operations.ts'

const COMMON = { tag: 'Operations', auth: 'required' } as const
const ERRORS = ['forbidden', 'illegal_move', 'outcome_unknown'] as const
const RESTART = {
  ...SMALL_BODY,
  schema: RestartReason,
  emptyIsAbsent: listEmptyIsAbsent(RestartReason),
  required: false,
  examples: { nothing: {}, reason: { reason: 'its worker has lost its disk' } },
}
const TASK = {
  id: '6f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11',
  family: 'image',
  kind: 'relight',
  owner: 'alice',
  status: 'FAILED',
  changed: true,
}

const OfId = Type.Object({ id: Type.String({ format: 'uuid', description: 'Id of it.' }) })

/** What stands still, and what is done about it, for platform admins. Each change is in the audit log. */
export const makeOperationsRoutes = (deps: OperationsDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/admin/operations',
    summary: 'What stands still or waits',
    description:
      'Stuck tasks and versions, what Temporal and receivers are still to be told, and the queues of Temporal with those who ask for work. Temporal that is away is part of the answer.',
    read: 'private',
    responses: { 200: { description: 'As it is now.', schema: Operations } },
    errors: ['forbidden'],
    handler: (request) => readOperations(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/admin/tasks/:id/restart',
    summary: 'Start the workflow of a task anew',
    description: 'Ends the workflow of an open task and starts another one, whatever hinders it.',
    params: OfId,
    body: RESTART,
    responses: {
      200: {
        description: 'The task, whose workflow starts anew.',
        schema: OperatedTask,
        example: { ...TASK, status: 'IN_PROGRESS' },
      },
    },
    errors: ['task_not_found', ...ERRORS],
    handler: (request) => runCommand(deps, request, RESTART_TASK),
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/admin/tasks/:id/fail',
    summary: 'End a task in failure',
    description:
      'With `internal_error`; its credits are returned. A task that has failed already stays as it is.',
    params: OfId,
    body: {
      ...SMALL_BODY,
      schema: FailReason,
      examples: { stuck: { reason: 'its input is gone' } },
    },
    responses: {
      200: { description: 'The task, which has failed.', schema: OperatedTask, example: TASK },
    },
    errors: ['task_not_found', ...ERRORS],
    handler: (request) => runCommand(deps, request, FAIL_TASK),
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/admin/versions/:id/restart',
    summary: 'Start the workflow of a pending version anew',
    description: 'The same for a version whose checks do not come to an end.',
    params: OfId,
    body: RESTART,
    responses: {
      200: { description: 'The version, whose checks begin anew.', schema: RestartedVersion },
    },
    errors: ['version_not_found', ...ERRORS],
    handler: (request) => runCommand(deps, request, RESTART_VERSION),
  }),
]
