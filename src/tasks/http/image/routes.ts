import { Type, type TObject } from 'typebox'

import { withinDeadline } from '../../../platform/db/client.ts'
import { listImageTasks } from '../../db/image/image-task.ts'
import { IMAGE_FAMILIES, IMAGE_KINDS, IMAGE_PREFIX } from '../../domain/image/image-kind.ts'
import type { AnyImageKind, ImageKind } from '../../domain/image/image-kind.ts'
import { FAMILIES } from '../../domain/family.ts'
import { cancelTask, type EndDeps } from '../../cancel.ts'
import { ImageTaskRecord } from '../../domain/image/image-task.ts'
import { LabelFilter, readLabelFilter } from '../../domain/task-options.ts'
import type { ImageFamily } from '../../domain/image/image-kind.ts'
import { makeImageCreation } from '../../create-image.ts'
import type { TaskDeps } from '../../deps.ts'
import { makeCreationParts } from '../task/creation.ts'
import { readTask } from './read.ts'
import { SMALL_BODY } from '../../../platform/json-body/body-limits.ts'
import { auditOf } from '../../../identity/http/access/audit.ts'
import { getCaller } from '../../../platform/http/access/caller.ts'
import { respondAfterChange, type LiveDeps } from '../../../platform/http/live/prefer.ts'
import {
  defineRoute,
  ignoreUnread,
  ok,
  type ResponseSpec,
  type Route,
} from '../../../platform/http/route.ts'
import { linkToEvents } from '../task/event-links.ts'
import { statusResponses } from '../task/read-response.ts'
import { orDryRun } from '../task/dry-run.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'
import type { AdmissionRules } from '../../db/admission.ts'
import { DOT, EXAMPLE_ID, EXAMPLE_LINK, EXAMPLE_URL } from './examples.ts'
import type { ReadDeps } from '../../../platform/http/deps.ts'
import type { TaskReadDeps } from '../../deps.ts'

/** The routes of image tasks: one creation for each kind; list, status and cancel for each family. */
export const makeImageTaskRoutes = (deps: TaskDeps & LiveDeps & AdmissionRules): Route[] => [
  ...makeImageCreationRoutes(deps),
  ...Object.keys(IMAGE_FAMILIES).flatMap((family) =>
    makeTaskRoutes(deps, {
      ...COMMON,
      path: `${IMAGE_PREFIX}/${family}`,
      segment: family,
      params: Type.Object({}),
      kindsOf: () => IMAGE_FAMILIES[family as ImageFamily],
    }).map(ignoreUnread),
  ),
]

/** The routes on which image tasks are made, one for each kind. */
const makeImageCreationRoutes = (deps: TaskDeps): Route[] =>
  Object.values(IMAGE_KINDS).map((row) =>
    makeCreationRoute(deps, row, {
      examples: {
        address: { image: EXAMPLE_URL, ...row.example },
        inline: { image: DOT },
      },
      links: linksOf(row.tasks),
    }),
  )

/** Tasks that are listed, read and cancelled below one path. */
interface TaskGroup {
  tag: string
  path: string
  segment: string
  /** Parameters of the path, and the kinds that they mean. */
  params: TObject
  kindsOf(params: Readonly<Record<string, unknown>>): readonly AnyImageKind[]
}

/** Makes the routes of a group: list, status and cancel. */
export const makeTaskRoutes = (
  deps: TaskReadDeps & LiveDeps & EndDeps,
  group: TaskGroup,
): Route[] => [list(deps, group), status(deps, group), cancel(deps, group)]

const COMMON = { tag: 'Image tasks', auth: 'required' } as const
const Data = Type.Object({ data: ImageTaskRecord })

export const makeCreationRoute = (
  deps: TaskDeps,
  kind: ImageKind,
  { examples, links }: { examples: Record<string, object>; links: Links },
): Route => {
  const { title, description } = kind
  return defineRoute({
    ...COMMON,
    ...makeCreationParts(deps, makeImageCreation(deps, kind), { examples }),
    summary: title,
    description,
    responses: {
      200: {
        description: 'The task, in CREATED; of a dry run its price.',
        schema: orDryRun(Data),
        headers: ['Location', 'X-Credits-Used', 'X-Estimated-Duration-Seconds'],
        example: { data: { task_id: EXAMPLE_ID, status: 'CREATED', generated: [] } },
        links,
      },
    },
    errors: [
      'incompatible_fields',
      'url_refused',
      'image_invalid',
      'pixel_limit',
      'quota_exceeded',
      'outcome_unknown',
    ],
  })
}

type Links = NonNullable<ResponseSpec['links']>

/** Makes the links to what can be done with a new task. */
export const linksOf = (tasks: string, given: Record<string, string> = {}): Links => {
  const path = `${tasks}/:task_id`
  const parameters = { ...given, task_id: '$response.body#/data/task_id' }
  return {
    read: { method: 'get', path, parameters },
    cancel: { method: 'post', path: `${path}/cancel`, parameters },
    ...linkToEvents(parameters.task_id),
  }
}

const list = ({ sql }: ReadDeps, { tag, path, segment, params, kindsOf }: TaskGroup): Route =>
  defineRoute({
    ...COMMON,
    tag,
    method: 'get',
    path,
    summary: `List the caller's tasks made under ${segment}, newest first`,
    params,
    query: Type.Object({
      page: Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: 1,
        description: 'Page, from 1.',
      }),
      per_page: Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 20,
        description: 'Tasks a page.',
      }),
      label: LabelFilter,
    }),
    responses: ok(
      'The page; empty past the end.',
      Type.Object({
        data: Type.Array(Type.Pick(ImageTaskRecord, ['task_id', 'status', 'deleted_at'])),
      }),
      { example: { data: [{ task_id: EXAMPLE_ID, status: 'IN_PROGRESS' }] } },
    ),
    errors: [],
    handler: async (request) => {
      const { page, per_page: perPage, label } = request.query
      const owner = getCaller(request).owner
      const kinds = kindsOf(request.params)
      const labels = readLabelFilter(label)
      const tasks = listImageTasks(sql, { owner, segment, kinds, page, perPage, labels })
      return { status: 200, body: { data: await withinDeadline(sql, tasks) } }
    },
  })

/** Makes the parameters of the routes of one task in a group. */
const paramsOf = (params: TObject) => Type.Object({ ...params.properties, ...OfTask.properties })

const status = (deps: TaskReadDeps & LiveDeps, { tag, path, params, kindsOf }: TaskGroup): Route =>
  defineRoute({
    ...COMMON,
    tag,
    method: 'get',
    path: `${path}/:task_id`,
    summary: 'Read the status and the results of a task',
    params: paramsOf(params),
    requestHeaders: ['If-None-Match', 'Prefer'],
    responses: statusResponses(Data, {
      data: { task_id: EXAMPLE_ID, status: 'COMPLETED', generated: [EXAMPLE_LINK] },
    }),
    errors: ['task_not_found'],
    handler: (request) => {
      const id = readTaskId(request.params.task_id)
      const { owner } = getCaller(request)
      const kinds = kindsOf(request.params)
      return respondAfterChange(deps, request, {
        findId: () => id,
        read: (known) => readTask(deps, { id, owner, kinds, known }),
      })
    },
  })

const cancel = (deps: EndDeps, { tag, path, params, kindsOf }: TaskGroup): Route =>
  defineRoute({
    ...COMMON,
    tag,
    method: 'post',
    path: `${path}/:task_id/cancel`,
    summary: 'Cancel a task that has not ended',
    params: paramsOf(params),
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: ok('The task, in FAILED with code cancelled.', Data, {
      example: {
        data: {
          task_id: EXAMPLE_ID,
          status: 'FAILED',
          generated: [],
          error: { code: 'cancelled', message: 'The caller cancelled the task.' },
        },
      },
    }),
    errors: ['task_not_found', 'cannot_cancel', 'outcome_unknown'],
    handler: (request) => {
      const id = readTaskId(request.params.task_id)
      const { owner } = getCaller(request)
      const task = { id, owner, family: 'image', kinds: kindsOf(request.params) } as const
      const { words, toError } = FAMILIES.image
      const data = { task_id: id, status: words.failed, generated: [], error: toError('cancelled') }
      return cancelTask(deps, task, {
        audit: auditOf(request),
        record: (sql) => request.saveIdempotentResponse(sql, { status: 200, body: { data } }),
      })
    },
  })
