import { Type } from 'typebox'

import {
  AdminTaskQuery,
  OwnerEventQuery,
  OwnerEvents,
  TASK_QUERY_EMPTY_IS_ABSENT,
  TaskDetail,
  TaskPage,
  TaskQuery,
  TaskSummary,
} from '../../domain/task/task-item.ts'
import type { TaskItem } from '../../domain/task/task-item.ts'
import { getCaller } from '../access/caller.ts'
import { requirePlatformAdmin } from '../registry/access.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import { judgePageToken } from '../task/page-token.ts'
import { OfTask } from '../task/task-id.ts'
import { readDetail } from './detail.ts'
import type { DetailDeps } from './detail.ts'
import { listEvents, listTasks, summarise } from './list.ts'
import { streamTasks } from './stream.ts'

/** Tasks of every kind in one list, and one of them with all of its life. */
export const makeAnyTaskRoutes = (deps: DetailDeps): Route[] => [
  list(deps),
  summary(deps),
  listAll(deps),
  events(deps),
  stream(deps),
  detail(deps),
]

const COMMON = { tag: 'Tasks', method: 'get', auth: 'required' } as const
const READ = { read: 'private', requestHeaders: ['If-None-Match'] } as const
const LIST = {
  ...READ,
  queryEmptyIsAbsent: TASK_QUERY_EMPTY_IS_ABSENT,
  judgeQuery: ({ query }: { query: Record<string, unknown> }) =>
    judgePageToken(query['after'], '?after', 'next'),
} as const

const ID = '0f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'
const AT = '2026-01-01T00:00:00.000Z'
const EXAMPLE: TaskItem = {
  task_id: ID,
  kind: 'relight',
  family: 'image',
  state: 'running',
  status: 'IN_PROGRESS',
  rev: 2,
  created_at: AT,
  started_at: AT,
  progress: 0,
  prompt: 'evening sun from the left',
  engine: 'automatic',
  credits: 0,
  cancellable: true,
  path: `/proxy/imgvendor/v1/ai/image-relight/${ID}`,
}

const list = (deps: DetailDeps): Route =>
  defineRoute({
    ...COMMON,
    ...LIST,
    path: '/tasks',
    summary: "List the caller's tasks of all kinds, newest first",
    description:
      'Each page looks at 20,000 tasks at most, so that a rare match comes with a later page: go on while there is a `next`.',
    query: TaskQuery,
    responses: {
      200: { description: 'The page.', schema: TaskPage, example: { tasks: [EXAMPLE] } },
    },
    errors: [],
    handler: (request) => listTasks(deps, request.query, { owner: getCaller(request).owner }),
  })

const listAll = (deps: DetailDeps): Route =>
  defineRoute({
    ...COMMON,
    ...LIST,
    path: '/admin/tasks',
    summary: 'List the tasks of all owners, newest first',
    query: AdminTaskQuery,
    responses: {
      200: {
        description: 'The page, which says whose each task is.',
        schema: TaskPage,
        example: { tasks: [{ ...EXAMPLE, owner: 'alice' }] },
      },
    },
    errors: ['forbidden'],
    handler: async (request) => {
      requirePlatformAdmin(getCaller(request))
      return await listTasks(deps, request.query, { owner: request.query.owner, isAdmin: true })
    },
  })

const summary = (deps: DetailDeps): Route =>
  defineRoute({
    ...COMMON,
    ...READ,
    path: '/tasks/summary',
    summary: "Count the caller's tasks by their state",
    responses: {
      200: {
        description: 'The counts.',
        schema: TaskSummary,
        example: {
          open: { waiting: 0, queued: 2, running: 1 },
          day: { done: 12, failed: 1, cancelled: 0 },
          exhausted_deliveries: 0,
          capped: false,
        },
      },
    },
    errors: [],
    handler: (request) => summarise(deps, getCaller(request).owner),
  })

const events = (deps: DetailDeps): Route =>
  defineRoute({
    ...COMMON,
    ...LIST,
    tag: 'Events',
    path: '/events',
    summary: "List the events of the caller's tasks, newest task first",
    query: OwnerEventQuery,
    responses: {
      200: {
        description: 'The page.',
        schema: OwnerEvents,
        example: {
          events: [
            {
              id: '6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21',
              task_id: ID,
              kind: 'relight',
              sequence: 3,
              status: 'COMPLETED',
              created_at: AT,
              state: 'exhausted',
              attempts: 10,
            },
          ],
        },
      },
    },
    errors: [],
    handler: (request) => listEvents(deps, getCaller(request).owner, request.query),
  })

const stream = (deps: DetailDeps): Route =>
  defineRoute({
    ...COMMON,
    tag: 'Live progress',
    path: '/tasks/stream',
    summary: 'Follow all tasks of the caller',
    description:
      '`task`: a task as lists show it. First come those that have not ended, the newest 200, and then each change of these and of the newest 200 tasks, at most two a second of each. With Last-Event-ID what has changed since then comes first. It has no end.',
    requestHeaders: ['Last-Event-ID'],
    responses: {
      200: {
        description: 'Events as they happen. A comment comes every 15 seconds.',
        schema: Type.String(),
        mediaType: 'text/event-stream',
        example: `id: 1767225601000\nevent: task\ndata: ${JSON.stringify(EXAMPLE)}\n\n`,
      },
    },
    errors: ['streams_exceeded', 'validation_failed'],
    handler: (request) => streamTasks(deps, request),
  })

const detail = (deps: DetailDeps): Route =>
  defineRoute({
    ...COMMON,
    ...READ,
    auth: 'optional',
    path: '/tasks/:task_id',
    summary: 'Read a task of any kind with all of its life',
    description:
      'Request, inputs, results, moves and tries at rendering. Platform admins read the tasks of all owners; the queries of their addresses, which may be secrets, are left out.',
    params: OfTask,
    responses: {
      200: {
        description: 'The task.',
        schema: TaskDetail,
        example: {
          ...EXAMPLE,
          request: {
            path: '/proxy/imgvendor/v1/ai/image-relight',
            body: { image: 'https://images.example.com/a.png', style: 'standard' },
          },
          inputs: [{ field: 'image', url: 'https://images.example.com/a.png' }],
          results: [],
          moves: [
            { event_id: ID, sequence: 1, status: 'CREATED', state: 'waiting', at: AT },
            { event_id: ID, sequence: 2, status: 'IN_PROGRESS', state: 'running', at: AT },
          ],
          attempts: [{ number: 1, started_at: AT, outcome: 'running' }],
          estimated_seconds: 3,
        },
      },
    },
    errors: ['task_not_found'],
    handler: (request) => readDetail(deps, request),
  })
