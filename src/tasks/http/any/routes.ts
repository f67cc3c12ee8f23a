import { Type } from 'typebox'

import {
  AdminTaskQuery,
  OwnerEventQuery,
  OwnerEvents,
  TASK_QUERY_EMPTY_IS_ABSENT,
  TaskDetail,
  TaskPage,
  TaskQuery,
  TaskStreamQuery,
  TaskSummary,
} from '../../domain/task-item.ts'
import { deleteTask, type DeletionDeps } from '../../delete.ts'
import { auditOf } from '../../../identity/http/access/audit.ts'
import {
  getCaller,
  ownerOf,
  tasksOf,
  requirePlatformAdmin,
} from '../../../platform/http/access/caller.ts'
import { defineRoute, ok, type Route } from '../../../platform/http/route.ts'
import { validatePageToken } from '../task/page-token.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'
import { readDetail } from './detail.ts'
import type { AnyTaskDeps } from './detail.ts'
import { listEvents, listTasks, summarise } from './list.ts'
import { streamTasks } from './stream.ts'
import { makeTaskTokenRoute } from './token-route.ts'

const DeletionQuery = Type.Object({
  when: Type.Optional(
    Type.Enum(['now', 'ended'], {
      description:
        '`ended`: a video that is being rendered is deleted at its end. Otherwise that is a 400, because it can no longer be cancelled.',
    }),
  ),
})

const COMMON = {
  tag: 'Tasks',
  method: 'get',
  auth: 'required',
  read: 'private',
  requestHeaders: ['If-None-Match'],
  errors: [],
} as const
const LIST = {
  ...COMMON,
  queryEmptyIsAbsent: TASK_QUERY_EMPTY_IS_ABSENT,
  description:
    'Each page looks at 20,000 tasks at most, so that a rare match comes with a later page: go on while there is a `next`.',
  validateQuery: ({ query }: { query: Record<string, unknown> }) =>
    validatePageToken(query['after'], '?after', 'next'),
} as const

/** Tasks of every kind in one list, and one of them with all of its life. */
export const makeAnyTaskRoutes = (deps: AnyTaskDeps & DeletionDeps): Route[] => [
  defineRoute({
    ...LIST,
    path: '/tasks',
    summary: "List the caller's tasks of all kinds, newest first",
    query: TaskQuery,
    responses: ok('The page.', TaskPage),
    handler: (request) => listTasks(deps, request.query, tasksOf(request)),
  }),
  defineRoute({
    ...COMMON,
    path: '/tasks/summary',
    summary: "Count the caller's tasks by their state",
    responses: ok('The counts.', TaskSummary),
    handler: (request) => summarise(deps, tasksOf(request)),
  }),
  defineRoute({
    ...LIST,
    path: '/admin/tasks',
    summary: 'List the tasks of all owners, newest first',
    query: AdminTaskQuery,
    responses: ok('The page, with the owner of each.', TaskPage),
    errors: ['forbidden'],
    handler: async (request) => {
      requirePlatformAdmin(getCaller(request))
      const { owner } = request.query
      return await listTasks(deps, request.query, { owner, families: undefined, isAdmin: true })
    },
  }),
  defineRoute({
    ...LIST,
    tag: 'Events',
    path: '/events',
    summary: "List the events of the caller's tasks, newest task first",
    query: OwnerEventQuery,
    responses: ok('The page.', OwnerEvents),
    handler: (request) => listEvents(deps, tasksOf(request), request.query),
  }),
  defineRoute({
    tag: 'Live progress',
    method: 'get',
    auth: 'required',
    path: '/tasks/stream',
    summary: 'Follow all tasks of the caller',
    description:
      '`task`: a task as lists show it. First come those that have not ended, the newest 200, and then each change of these and of the newest 200 tasks, at most two a second of each. With Last-Event-ID what has changed since then comes first. It has no end; a comment comes every 15 seconds.',
    query: TaskStreamQuery,
    queryEmptyIsAbsent: TASK_QUERY_EMPTY_IS_ABSENT,
    requestHeaders: ['Last-Event-ID'],
    responses: ok('Events as they happen.', Type.String(), { mediaType: 'text/event-stream' }),
    errors: ['streams_exceeded', 'validation_failed'],
    handler: (request) => streamTasks(deps, request),
  }),
  // After the paths that it would match, too.
  defineRoute({
    ...COMMON,
    auth: 'optional',
    path: '/tasks/:task_id',
    summary: 'Read a task of any kind with all of its life',
    description:
      'Request, inputs, results, transitions and attempts at rendering. Platform admins read the tasks of all owners, and a token for it reads the task; the queries of its addresses, which may be secrets, are then left out.',
    takesTaskTokens: true,
    params: OfTask,
    responses: ok('The task.', TaskDetail),
    errors: ['task_not_found'],
    handler: (request) => readDetail(deps, request),
  }),
  defineRoute({
    tag: 'Tasks',
    method: 'delete',
    auth: 'optional',
    path: '/tasks/:task_id',
    summary: 'Delete a task with its inputs, results and payload',
    description:
      'One that has not ended is cancelled. Its links return 410 from then on and its webhook URL is notified no more; its row stays, without content, and has `deleted_at`. A repetition changes nothing.',
    params: OfTask,
    query: DeletionQuery,
    responses: {
      202: { description: 'It is deleted once it has ended.' },
      204: { description: 'It is deleted.' },
    },
    errors: ['task_not_found', 'cannot_cancel'],
    ofVideoToo: true,
    async handler(request) {
      const task = { id: readTaskId(request.params.task_id), owner: ownerOf(request) }
      const { when } = request.query
      const isDeleted = await deleteTask(deps, task, { when, audit: auditOf(request) })
      return { status: isDeleted ? 204 : 202 }
    },
  }),
  makeTaskTokenRoute(deps),
]
