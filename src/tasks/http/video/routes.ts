import { Type } from 'typebox'

import { withinDeadline } from '../../../platform/db/client.ts'
import { findOwnerCredits } from '../../db/owner.ts'
import {
  VIDEO_LIST_EMPTY_IS_ABSENT,
  VideoCancelBody,
  VideoTaskQuery,
  validateVideoTaskQuery,
  VIDEO_LIST_SECONDS,
} from '../../domain/video/video-list.ts'
import { VideoCreations, VideoCredits, VideoTaskList } from '../../domain/video/video-task.ts'
import { SMALL_BODY } from '../../../platform/json-body/body-limits.ts'
import { auditOf } from '../../../identity/http/access/audit.ts'
import { ownerOf } from '../../../platform/http/access/caller.ts'
import { respondAfterChange, type LiveDeps } from '../../../platform/http/live/prefer.ts'
import { cancelTask } from '../../cancel.ts'
import { makeIssue } from '../../../platform/domain/validate.ts'
import { defineRoute, ok, type Route, type JsonResponse } from '../../../platform/http/route.ts'
import { statusResponses } from '../task/read-response.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'
import { VIDEO_PREFIX } from '../../domain/video/video-path.ts'
import type { VideoTaskDeps } from '../../create-video.ts'
import { validatePageToken, parsePageToken, makePageToken } from '../task/page-token.ts'
import { readTask } from './read.ts'
import { makeVideoCreationRoutes } from './creation-routes.ts'
import { CREATIONS, CREDITS, TASK_LIST } from './examples.ts'
import { listVideoTasks, type VideoListFilter } from '../../db/video/video-list.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import { readLabelFilter } from '../../domain/task-options.ts'
import { parseListTime } from '../../../platform/domain/time-bounds.ts'
import type { TaskReadDeps } from '../../deps.ts'
import { toListed } from './record.ts'

/** The routes of video tasks: two creations; status, cancel, list and credits for both. */
export const makeVideoTaskRoutes = (deps: VideoTaskDeps & LiveDeps): Route[] => [
  ...makeVideoCreationRoutes(deps),
  defineRoute({
    ...commonOf(deps),
    method: 'get',
    path: `${TASK_PATH}/creations`,
    summary: 'Read the state and the video of a task',
    params: OfTask,
    requestHeaders: ['If-None-Match', 'Prefer'],
    responses: statusResponses(VideoCreations, CREATIONS),
    errors: ['task_not_found'],
    handler: (request) => {
      const id = readTaskId(request.params.task_id)
      const owner = ownerOf(request)
      return respondAfterChange(deps, request, {
        findId: () => id,
        read: (known) => readTask(deps, { id, owner, known }),
      })
    },
  }),
  defineRoute({
    ...commonOf(deps),
    method: 'post',
    path: `${TASK_PATH}/cancel`,
    summary: 'Cancel a task that is not being rendered yet',
    description: 'The task ends in failed with UserCancelled, and its credits are given back.',
    params: OfTask,
    body: { ...SMALL_BODY, schema: VideoCancelBody, required: false, examples: { nothing: {} } },
    responses: ok('The task was cancelled.', Type.Object({}), { example: {} }),
    errors: ['task_not_found', 'cannot_cancel', 'outcome_unknown'],
    validate: validateCancel,
    handler: (request) => {
      const id = readTaskId(request.params.task_id)
      const task = { id, owner: ownerOf(request), family: 'video' } as const
      return cancelTask(deps, task, {
        audit: auditOf(request),
        record: (sql) => request.saveIdempotentResponse(sql, { status: 200, body: {} }),
      })
    },
  }),
  defineRoute({
    ...commonOf(deps),
    method: 'get',
    path: `${VIDEO_PREFIX}/tasks`,
    summary: "List the caller's video tasks, newest first",
    description:
      'Filters are combined. Without a credential only tasks that `task_ids` names are found, and only those made without one. A page whose payloads are large ends early; `next_page_token` leads on.',
    query: VideoTaskQuery,
    queryEmptyIsAbsent: VIDEO_LIST_EMPTY_IS_ABSENT,
    responses: ok('The page.', VideoTaskList, { example: TASK_LIST }),
    errors: [],
    validateQuery: ({ query, caller }) => [
      ...validateVideoTaskQuery(query, { isAnonymous: caller === undefined }),
      ...validatePageToken(query['pager.page_token']),
    ],
    handler: (request) => listTasks(deps, ownerOf(request), request.query),
  }),
  defineRoute({
    ...commonOf(deps),
    method: 'get',
    path: `${VIDEO_PREFIX}/credits`,
    summary: 'Read credits and slots of the caller',
    description:
      "Without a credential they are those of the client's address. All addresses together have so many slots, too, so one may wait while it holds fewer than its own.",
    responses: ok('Credits and slots.', VideoCredits, { example: CREDITS }),
    errors: [],
    handler: async (request) => {
      const { sql, creditLimit, slots, anonymousSlots = slots } = deps
      const { caller } = request
      const { used, running, waiting, ...own } = await withinDeadline(
        sql,
        findOwnerCredits(sql, ownerOf(request), request.account()),
      )
      const max = own.creditLimit ?? creditLimit
      const remains = {
        credit_remain: max === undefined ? null : Math.max(0, max - used),
        credit_used: used,
        concurrency_limit: caller ? (own.slots ?? slots) : Math.min(slots, anonymousSlots),
        current_concurrency: running,
        queue_count: waiting,
      }
      return { status: 200, body: { remains: [remains] } }
    },
  }),
]

/** Validates that the id in a body, when there is one, is the id in the path. */
const validateCancel: NonNullable<Route['validate']> = ({ params, body: { id } }) =>
  typeof id !== 'string' || id.toLowerCase() === String(params['task_id']).toLowerCase()
    ? []
    : [makeIssue('/id', 'must be the id in the path, got another one')]

const commonOf = ({ videoAuth }: Pick<VideoTaskDeps, 'videoAuth'>) =>
  ({ tag: 'Video tasks', auth: videoAuth, unread: 'ignored' }) as const

const TASK_PATH = `${VIDEO_PREFIX}/tasks/:task_id`

/** Returns one page of the owner's tasks. The query is valid. */
const listTasks = async (
  { sql, signer, now }: TaskReadDeps,
  owner: string,
  query: VideoTaskQuery,
): Promise<JsonResponse> => {
  const time = now()
  const size = query['pager.pagesz']
  // No task has an id that is not a UUID. An empty list of ids would show all tasks.
  const ids = query.task_ids?.filter(isUuid)
  const filter = { ...toFilter(query, time), owner, ids: ids ?? [], limit: size + 1 }
  // One more than the page may hold shows whether there is a next one.
  const found = ids?.length === 0 ? [] : await withinDeadline(sql, listVideoTasks(sql, filter))
  const page = found.slice(0, size)
  const last = page.at(-1)
  const nextPageToken = last && last.found > page.length ? makePageToken(last) : ''
  const tasks = page.map((task) => toListed(task, signer, time))
  return { status: 200, body: { tasks, next_page_token: nextPageToken } }
}

type Filter = Omit<VideoListFilter, 'owner' | 'ids' | 'limit'>

const toFilter = (query: VideoTaskQuery, now: Date): Filter => {
  const { 'created_at.from': from, 'created_at.to': to, 'pager.page_token': token } = query
  const after = token === undefined ? undefined : parsePageToken(token)
  return {
    from:
      from === undefined
        ? new Date(now.getTime() - VIDEO_LIST_SECONDS * 1000)
        : parseListTime(from),
    ...(to === undefined ? {} : { to: parseListTime(to) }),
    states: query.states ?? [],
    models: query.model_versions ?? [],
    resolutions: query.resolutions ?? [],
    labels: readLabelFilter(query.label),
    // A token reaches further than a page number, so it counts when both are given.
    offset: after ? 0 : (query['pager.page'] ?? 0) * query['pager.pagesz'],
    ...(after && { after }),
  }
}
