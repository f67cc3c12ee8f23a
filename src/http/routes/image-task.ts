import { Type } from 'typebox'

import type { Signer } from '../../adapters/signing.ts'
import { withinDeadline } from '../../db/client.ts'
import { findImageTask, listImageTasks } from '../../db/image-task.ts'
import { errors } from '../../domain/errors.ts'
import {
  IMAGE_FAMILIES,
  IMAGE_KINDS,
  ImageTaskRecord,
  ImageTaskStatus,
  TERMINAL_STATUSES,
} from '../../domain/image-task.ts'
import type { ImageFamily, ImageTaskKind } from '../../domain/image-task.ts'
import { cancelTask } from '../image-task/cancel.ts'
import { makeCreation } from '../image-task/create.ts'
import type { CreationDeps } from '../image-task/create.ts'
import { makeJudge } from '../image-task/judge.ts'
import { toRecord } from '../image-task/record.ts'
import { defineRoute } from '../route.ts'
import type { Route, RouteRequest } from '../route.ts'

export const IMAGE_PREFIX = '/proxy/imgvendor/v1/ai'

/** The routes of image tasks: one creation for each kind; list, status and cancel for each family. */
export const makeImageTaskRoutes = (deps: CreationDeps): Route[] => [
  ...Object.keys(IMAGE_KINDS).map((kind) => creation(deps, kind as ImageTaskKind)),
  ...Object.keys(IMAGE_FAMILIES).flatMap((family) => [
    list(deps, family as ImageFamily),
    status(deps, family as ImageFamily),
    cancel(deps, family as ImageFamily),
  ]),
]

const COMMON = { tag: 'Image tasks', auth: 'required' } as const
const Data = Type.Object({ data: ImageTaskRecord })
const TaskParams = Type.Object({ task_id: Type.String({ description: 'Id of the task (UUID).' }) })

const creation = (deps: CreationDeps, kind: ImageTaskKind): Route => {
  const { path, title, body, images, maxBytes } = IMAGE_KINDS[kind]
  return defineRoute({
    ...COMMON,
    method: 'post',
    path: IMAGE_PREFIX + path,
    summary: title,
    description:
      'Not generative: the local engine is classical image processing. Answers once the task is durable; it runs afterwards.',
    body: {
      schema: body,
      maxBytes,
      deadlineMs: 120_000,
      heldBytes: 1_048_576,
      images: images.map((field) => `/${field}`),
      emptyIsAbsent: ['prompt'],
      example: { image: 'https://images.example.com/portrait.png' },
    },
    responses: {
      200: { description: 'The task, in CREATED.', schema: Data, headers: CREATION_HEADERS },
    },
    errors: [
      'incompatible_fields',
      'url_refused',
      'image_invalid',
      'pixel_limit',
      'outcome_unknown',
    ],
    judge: makeJudge(deps, kind),
    handler: makeCreation(deps, kind),
  })
}

const list = ({ sql }: CreationDeps, family: ImageFamily): Route =>
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${IMAGE_PREFIX}/${family}`,
    summary: `List the caller's tasks made under ${family}, newest first`,
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
    }),
    responses: {
      200: {
        description: 'The page; empty past the end.',
        schema: Type.Object({
          data: Type.Array(
            Type.Object({ task_id: Type.String({ format: 'uuid' }), status: ImageTaskStatus }),
          ),
        }),
      },
    },
    errors: [],
    handler: async (request) => {
      const { page, per_page: perPage } = request.query
      const owner = ownerOf(request)
      const tasks = listImageTasks(sql, { owner, segment: family, page, perPage })
      return { status: 200, body: { data: await withinDeadline(tasks) } }
    },
  })

const status = ({ sql, signer, now }: CreationDeps, family: ImageFamily): Route =>
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${IMAGE_PREFIX}/${family}/:task_id`,
    summary: 'Read the status and the results of a task',
    params: TaskParams,
    responses: {
      200: { description: 'The task.', schema: Data, headers: STATUS_HEADERS },
      304: { description: 'Nothing has changed since the ETag in If-None-Match.' },
    },
    errors: ['task_not_found'],
    handler: async (request) => {
      const id = taskId(request.params.task_id)
      const kinds = IMAGE_FAMILIES[family].read
      const task = await withinDeadline(findImageTask(sql, { id, owner: ownerOf(request), kinds }))
      if (!task) throw errors.taskNotFound(id)
      const etag = `"${task.rev}-${signingHour(signer, now())}"`
      const headers = {
        ...COST,
        etag,
        'cache-control': 'private, no-cache',
        ...pollAfter(task.status),
      }
      if (matches(request.headers['if-none-match'], etag)) return { status: 304, headers }
      return { status: 200, headers, body: { data: toRecord(task, signer, now()) } }
    },
  })

const cancel = (deps: CreationDeps, family: ImageFamily): Route =>
  defineRoute({
    ...COMMON,
    method: 'post',
    path: `${IMAGE_PREFIX}/${family}/:task_id/cancel`,
    summary: 'Cancel a task that has not ended',
    params: TaskParams,
    body: {
      schema: Type.Object({}),
      maxBytes: 1_048_576,
      deadlineMs: 15_000,
      heldBytes: 1_048_576,
      required: false,
      example: {},
    },
    responses: { 200: { description: 'The task, in FAILED with code cancelled.', schema: Data } },
    errors: ['task_not_found', 'cannot_cancel', 'outcome_unknown'],
    handler: (request) =>
      cancelTask(deps, {
        id: taskId(request.params.task_id),
        owner: ownerOf(request),
        kinds: IMAGE_FAMILIES[family].read,
        finish: request.finish,
      }),
  })

const COST = { 'x-credits-used': '0' }

const CREATION_HEADERS = {
  Location: 'Status route of the task.',
  'X-Credits-Used': 'Always 0 for images.',
  'X-Estimated-Duration-Seconds': 'Expected time of rendering, a whole number of seconds.',
}

const STATUS_HEADERS = {
  ETag: 'Changes with the task, and each hour with the links.',
  'Retry-After': 'Seconds until the next useful read; absent once the task has ended.',
  'X-Credits-Used': 'Always 0 for images.',
}

const pollAfter = (status: ImageTaskStatus): Record<string, string> => {
  if (TERMINAL_STATUSES.includes(status)) return {}
  return { 'retry-after': status === 'IN_PROGRESS' ? '1' : '2' }
}

const signingHour = (signer: Signer, now: Date): number => signer.linkExpiry(now) / 3600

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()))

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** An id that is no UUID is the id of no task. */
const taskId = (text: string): string => {
  if (!UUID.test(text)) throw errors.taskNotFound(text)
  return text.toLowerCase()
}

const ownerOf = ({ caller }: RouteRequest): string => {
  if (!caller) throw errors.unauthorized()
  return caller.owner
}
