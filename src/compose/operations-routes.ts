import { Type } from 'typebox'

import { TaskExplanation } from '../tasks/domain/explanation.ts'
import { DrainedInstance, Fleet } from '../tasks/domain/fleet.ts'
import {
  FailReason,
  OperatedTask,
  Operations,
  RestartReason,
  RestartedVersion,
} from '../tasks/domain/operations.ts'
import { SMALL_BODY } from '../platform/json-body/body-limits.ts'
import { defineRoute, ok, type Route } from '../platform/http/route.ts'
import {
  DRAIN_INSTANCE,
  FAIL_TASK,
  RESTART_TASK,
  RESTART_VERSION,
  RESUME_INSTANCE,
  readExplanation,
  readFleet,
  readOperations,
  runCommand,
} from './operations.ts'
import type { OperationsDeps } from './operations.ts'

const COMMON = { tag: 'Operations', auth: 'required' } as const
const COMMAND = {
  ...COMMON,
  method: 'post',
  params: Type.Object({ id: Type.String({ format: 'uuid', description: 'Its id.' }) }),
} as const
const ERRORS = ['forbidden', 'illegal_move', 'outcome_unknown'] as const
const RESTART = {
  ...SMALL_BODY,
  schema: RestartReason,
  emptyIsAbsent: 'optional',
  required: false,
  examples: { nothing: {}, reason: { reason: 'its worker has lost its disk' } },
} as const

const DRAIN = {
  ...COMMAND,
  params: Type.Object({
    id: Type.String({ description: 'Its name; of one from DNS its address and port.' }),
  }),
  body: { ...RESTART, examples: { nothing: {}, reason: { reason: 'its driver is renewed' } } },
  responses: ok('The instance.', DrainedInstance),
  errors: ['forbidden', 'instance_not_found', 'outcome_unknown'],
} as const

/** Routes that show what stands still, and that act on it, for platform admins. Each change is in the audit log. */
export const makeOperationsRoutes = (deps: OperationsDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/admin/operations',
    summary: 'What stands still or waits',
    description:
      'Stuck tasks and versions, what is still to be sent to Temporal and to webhook URLs, the queues of Temporal with those who ask for work, and rates of the last hour. The response also says when Temporal is away.',
    read: 'private',
    responses: ok('As it is now.', Operations),
    errors: ['forbidden'],
    handler: (request) => readOperations(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    params: COMMAND.params,
    path: '/admin/tasks/:id/explanation',
    summary: 'Why a task is where it is',
    description:
      'Its row, why it waits, what its workflow waits for, its placement, attempts and deliveries in sentences, and what to do next.',
    read: 'private',
    responses: ok('As it is now.', TaskExplanation),
    errors: ['task_not_found', 'forbidden'],
    handler: (request) => readExplanation(deps, request),
  }),
  defineRoute({
    ...COMMAND,
    path: '/admin/tasks/:id/restart',
    summary: 'Start the workflow of a task again',
    description: 'Ends the workflow of an open task and starts another one, whatever hinders it.',
    body: RESTART,
    responses: ok('The task.', OperatedTask),
    errors: ['task_not_found', ...ERRORS],
    handler: (request) => runCommand(deps, request, RESTART_TASK),
  }),
  defineRoute({
    ...COMMAND,
    path: '/admin/tasks/:id/fail',
    summary: 'End a task in failure',
    description:
      'With `internal_error`; its credits are returned. A task that has failed already stays as it is.',
    body: {
      ...SMALL_BODY,
      schema: FailReason,
      examples: { lost: { reason: 'its input is gone' } },
    },
    responses: ok('The task, which has failed.', OperatedTask),
    errors: ['task_not_found', ...ERRORS],
    handler: (request) => runCommand(deps, request, FAIL_TASK),
  }),
  defineRoute({
    ...COMMAND,
    path: '/admin/versions/:id/restart',
    summary: 'Start the workflow of a pending version again',
    description: 'The same for a version whose checks do not come to an end.',
    body: RESTART,
    responses: ok('The version.', RestartedVersion),
    errors: ['version_not_found', ...ERRORS],
    handler: (request) => runCommand(deps, request, RESTART_VERSION),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/admin/instances',
    summary: 'Instances of engines',
    description:
      'What each runs and how its placements ended, where each template can be run, and the tasks that wait for an instance. Core workers look at all of them every two seconds, and twice a minute at what they can run.',
    read: 'private',
    responses: ok('As it is now.', Fleet),
    errors: ['forbidden'],
    handler: (request) => readFleet(deps, request),
  }),
  defineRoute({
    ...DRAIN,
    path: '/admin/instances/:id/drain',
    summary: 'Give an instance no more tasks',
    description: 'It ends those that it has.',
    handler: (request) => runCommand(deps, request, DRAIN_INSTANCE, request.params.id),
  }),
  defineRoute({
    ...DRAIN,
    path: '/admin/instances/:id/resume',
    summary: 'Give an instance tasks again',
    description: 'Ends a drain.',
    handler: (request) => runCommand(deps, request, RESUME_INSTANCE, request.params.id),
  }),
]
