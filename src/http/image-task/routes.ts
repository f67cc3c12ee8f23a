import { Type } from 'typebox'

import { withinDeadline } from '../../db/client.ts'
import { listImageTasks } from '../../db/image-task/image-task.ts'
import { IMAGE_FAMILIES, IMAGE_KINDS, IMAGE_PREFIX } from '../../domain/image-task/image-kind.ts'
import { ImageTaskRecord } from '../../domain/image-task/image-task.ts'
import type { ImageFamily, ImageTaskKind } from '../../domain/image-task/image-kind.ts'
import { cancelTask } from './cancel.ts'
import { makeCreation, makeDryRun, makeValidate, type ImageTaskDeps } from './create.ts'
import { readTask } from './read.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import { getCaller } from '../access/caller.ts'
import { respondAfterChange, type LiveDeps } from '../live/prefer.ts'
import { defineRoute, type ResponseSpec, type Route } from '../route.ts'
import { linkToEvents } from '../task/event-links.ts'
import { statusResponses } from '../task/read-response.ts'
import { DryRunQuery, orDryRun } from '../task/dry-run.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'
import { DOT, EXAMPLES, EXAMPLE_ID, EXAMPLE_LINK, EXAMPLE_URL } from './examples.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'
import type { TaskReadDeps } from '../task/deps.ts'

/** The routes of image tasks: one creation for each kind; list, status and cancel for each family. */
export const makeImageTaskRoutes = (deps: ImageTaskDeps): Route[] => [
  ...Object.keys(IMAGE_KINDS).map((kind) => creation(deps, kind as ImageTaskKind)),
  ...Object.keys(IMAGE_FAMILIES).flatMap((family) => [
    list(deps, family as ImageFamily),
    status(deps, family as ImageFamily),
    cancel(deps, family as ImageFamily),
  ]),
]

const COMMON = { tag: 'Image tasks', auth: 'required' } as const
const Data = Type.Object({ data: ImageTaskRecord })

const creation = (deps: ImageTaskDeps, kind: ImageTaskKind): Route => {
  const { path, family, title, body, images, maxBytes } = IMAGE_KINDS[kind]
  return defineRoute({
    ...COMMON,
    method: 'post',
    path: IMAGE_PREFIX + path,
    query: DryRunQuery,
    quota: 'create',
    summary: title,
    description:
      'Not generative: the local engine is classical image processing. Responds once the task is durable; it runs afterwards.',
    body: {
      schema: body,
      maxBytes,
      deadlineMs: 120_000,
      heldBytes: 1_048_576,
      images: images.map((field) => `/${field}`),
      emptyIsAbsent: ['prompt'],
      examples: { address: { image: EXAMPLE_URL, ...EXAMPLES[kind] }, inline: { image: DOT } },
    },
    responses: {
      200: {
        description: 'The task, in CREATED; of a dry run its price.',
        schema: orDryRun(Data),
        headers: ['Location', 'X-Credits-Used', 'X-Estimated-Duration-Seconds'],
        example: { data: { task_id: EXAMPLE_ID, status: 'CREATED', generated: [] } },
        links: linksOf(family),
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
    validate: makeValidate(deps, kind),
    dryRun: makeDryRun(deps, kind),
    handler: makeCreation(deps, kind),
  })
}

/** Makes the links to what can be done with a new task. */
const linksOf = (family: ImageFamily): NonNullable<ResponseSpec['links']> => {
  const path = `${IMAGE_PREFIX}/${family}/:task_id`
  const parameters = { task_id: '$response.body#/data/task_id' }
  return {
    read: { method: 'get', path, parameters },
    cancel: { method: 'post', path: `${path}/cancel`, parameters },
    ...linkToEvents(parameters.task_id),
  }
}

const list = ({ sql }: ReadDeps, family: ImageFamily): Route =>
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
          data: Type.Array(Type.Pick(ImageTaskRecord, ['task_id', 'status', 'deleted_at'])),
        }),
        example: { data: [{ task_id: EXAMPLE_ID, status: 'IN_PROGRESS' }] },
      },
    },
    errors: [],
    handler: async (request) => {
      const { page, per_page: perPage } = request.query
      const owner = getCaller(request).owner
      const tasks = listImageTasks(sql, { owner, segment: family, page, perPage })
      return { status: 200, body: { data: await withinDeadline(sql, tasks) } }
    },
  })

const status = (deps: TaskReadDeps & LiveDeps, family: ImageFamily): Route =>
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${IMAGE_PREFIX}/${family}/:task_id`,
    summary: 'Read the status and the results of a task',
    params: OfTask,
    requestHeaders: ['If-None-Match', 'Prefer'],
    responses: statusResponses(Data, {
      data: { task_id: EXAMPLE_ID, status: 'COMPLETED', generated: [EXAMPLE_LINK] },
    }),
    errors: ['task_not_found'],
    handler: (request) => {
      const id = readTaskId(request.params.task_id)
      const { owner } = getCaller(request)
      const kinds = IMAGE_FAMILIES[family].read
      return respondAfterChange(deps, request, {
        findId: () => id,
        read: (known) => readTask(deps, { id, owner, kinds, known }),
      })
    },
  })

const cancel = (deps: CommitDeps, family: ImageFamily): Route =>
  defineRoute({
    ...COMMON,
    method: 'post',
    path: `${IMAGE_PREFIX}/${family}/:task_id/cancel`,
    summary: 'Cancel a task that has not ended',
    params: OfTask,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: {
      200: {
        description: 'The task, in FAILED with code cancelled.',
        schema: Data,
        example: {
          data: {
            task_id: EXAMPLE_ID,
            status: 'FAILED',
            generated: [],
            error: { code: 'cancelled', message: 'The caller cancelled the task.' },
          },
        },
      },
    },
    errors: ['task_not_found', 'cannot_cancel', 'outcome_unknown'],
    handler: (request) =>
      cancelTask(deps, {
        id: readTaskId(request.params.task_id),
        owner: getCaller(request).owner,
        kinds: IMAGE_FAMILIES[family].read,
        saveIdempotentResponse: request.saveIdempotentResponse,
      }),
  })
