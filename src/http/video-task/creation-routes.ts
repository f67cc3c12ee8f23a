import type { TSchema } from 'typebox'

import {
  makeExtendDocument,
  makeTextToVideoDocument,
} from '../../domain/video-task/video-document.ts'
import {
  ExtendInput,
  TextToVideoInput,
  VIDEO_BODY_MAX_BYTES,
  VIDEO_EMPTY_IS_ABSENT,
} from '../../domain/video-task/video-input.ts'
import { ExtendRecord, TextToVideoRecord } from '../../domain/video-task/video-task.ts'
import { defineRoute, type ResponseSpec, type Route } from '../route.ts'
import { DryRunQuery, orDryRun } from '../task/dry-run.ts'
import { CANCEL_AFTER } from '../task/cancel-after.ts'
import { linkToEvents } from '../task/event-links.ts'
import { VIDEO_PREFIX } from '../../domain/video-task/video-path.ts'
import {
  makeExtendCreation,
  makeExtendDryRun,
  makeTextToVideoCreation,
  makeTextToVideoDryRun,
} from './create.ts'
import type { VideoTaskDeps } from './deps.ts'
import { listIneffective, makeValidate } from './validate.ts'
import {
  EXTEND_EXAMPLES,
  EXTEND_RECORD,
  IMAGE_TO_VIDEO_EXAMPLES,
  START_END_EXAMPLES,
  TEXT_TO_VIDEO_EXAMPLES,
  TEXT_TO_VIDEO_RECORD,
} from './examples.ts'

/** The two routes that make a video task. */
export const makeVideoCreationRoutes = (deps: VideoTaskDeps): Route[] => [
  textToVideo(deps, {
    path: `${VIDEO_PREFIX}/text2video`,
    summary: 'Make a video from a prompt, a start image, or both',
    examples: TEXT_TO_VIDEO_EXAMPLES,
  }),
  textToVideo(deps, {
    path: `${VIDEO_PREFIX}/img2video`,
    summary: 'Make a video from a start image',
    frames: 1,
    examples: IMAGE_TO_VIDEO_EXAMPLES,
  }),
  textToVideo(deps, {
    path: `${VIDEO_PREFIX}/start-end2video`,
    summary: 'Make a video from its first and its last frame',
    frames: 2,
    examples: START_END_EXAMPLES,
  }),
  extend(deps),
]

const COMMON = {
  query: DryRunQuery,
  requestHeaders: [CANCEL_AFTER.header],
  tag: 'Video tasks',
  method: 'post',
  unread: 'ignored',
  quota: 'create',
} as const

/** Limits of a body with one image. A payload of escaped pairs is 12 MiB on the wire, and 4 MiB of UTF-8. */
const CREATION_BODY = {
  maxBytes: VIDEO_BODY_MAX_BYTES,
  deadlineMs: 120_000,
  heldBytes: 16 * 2 ** 20,
  images: ['/images/*'],
  maxImages: 1,
  emptyIsAbsent: VIDEO_EMPTY_IS_ABSENT,
  headerMember: CANCEL_AFTER,
} as const

const CREATION_ERRORS = [
  'url_refused',
  'image_invalid',
  'pixel_limit',
  'insufficient_credits',
  'quota_exceeded',
  'outcome_unknown',
] as const

const CREATION_HEADERS = ['Location', 'X-Credits-Used', 'X-Estimated-Duration-Seconds'] as const

const NOT_GENERATIVE =
  'Not generative: the local engine moves a camera over a still, or draws a scene of its own. Responds once the task is durable; it runs afterwards.'

const parameters = { task_id: '$response.body#/task_id' }

/** Links from a new task. */
const LINKS: NonNullable<ResponseSpec['links']> = {
  read: { method: 'get', path: `${VIDEO_PREFIX}/tasks/:task_id/creations`, parameters },
  cancel: { method: 'post', path: `${VIDEO_PREFIX}/tasks/:task_id/cancel`, parameters },
  ...linkToEvents(parameters.task_id),
}

const made = (record: TSchema, example: object) => ({
  200: {
    description: 'The task, in created; of a dry run its price.',
    schema: orDryRun(record),
    headers: CREATION_HEADERS,
    example,
    links: LINKS,
  },
})

interface TextToVideo {
  path: string
  summary: string
  /** Images that there must be: the first frame, and the last; all else is the same. */
  frames?: 1 | 2
  examples: Record<string, unknown>
}

const textToVideo = (
  deps: VideoTaskDeps,
  { path, summary, frames, examples }: TextToVideo,
): Route =>
  defineRoute({
    ...COMMON,
    auth: deps.videoAuth,
    path,
    summary,
    description: NOT_GENERATIVE,
    body: {
      ...CREATION_BODY,
      maxImages: frames ?? 1,
      maxBytes: VIDEO_BODY_MAX_BYTES * (frames ?? 1),
      schema: TextToVideoInput,
      document: makeTextToVideoDocument(frames),
      examples,
    },
    responses: made(TextToVideoRecord, TEXT_TO_VIDEO_RECORD),
    errors: [...CREATION_ERRORS, 'incompatible_fields'],
    // The record may hold a signed link.
    secretResponse: true,
    echo: 'payload',
    validate: makeValidate(deps, 'text2video', frames),
    listIneffective,
    dryRun: makeTextToVideoDryRun(deps),
    handler: makeTextToVideoCreation(deps),
  })

const extend = (deps: VideoTaskDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: deps.videoAuth,
    path: `${VIDEO_PREFIX}/extend`,
    summary: 'Make a video longer',
    description: `${NOT_GENERATIVE} The result is the whole video: the source, then what is added from its last frame on.`,
    body: {
      ...CREATION_BODY,
      schema: ExtendInput,
      document: makeExtendDocument(deps.extendSource),
      examples: EXTEND_EXAMPLES,
    },
    responses: made(ExtendRecord, EXTEND_RECORD),
    errors: [...CREATION_ERRORS, 'task_not_found'],
    secretResponse: true,
    echo: 'payload',
    validate: makeValidate(deps, 'extend'),
    dryRun: makeExtendDryRun(deps),
    handler: makeExtendCreation(deps),
  })
