import type { TSchema } from 'typebox'

import { makeExtendDocument, makeTextToVideoDocument } from '../../domain/video/video-document.ts'
import { ExtendRecord, TextToVideoRecord } from '../../domain/video/video-task.ts'
import {
  defineRoute,
  type BodySpec,
  type ResponseSpec,
  type Route,
} from '../../../platform/http/route.ts'
import { makeCreationParts } from '../task/creation.ts'
import { orDryRun } from '../task/dry-run.ts'
import { linkToEvents } from '../task/event-links.ts'
import { VIDEO_PREFIX } from '../../domain/video/video-path.ts'
import type { Creation } from '../../creation.ts'
import { makeVideoCreations, type VideoTaskDeps } from '../../create-video.ts'
import {
  EXTEND_EXAMPLES,
  EXTEND_RECORD,
  IMAGE_TO_VIDEO_EXAMPLES,
  START_END_EXAMPLES,
  TEXT_TO_VIDEO_EXAMPLES,
  TEXT_TO_VIDEO_RECORD,
} from './examples.ts'

export const makeVideoCreationRoutes = (deps: VideoTaskDeps): Route[] => {
  const { text2video, img2video, startEnd2video, extend } = makeVideoCreations(deps)
  return [
    textToVideo(deps, text2video, {
      summary: 'Make a video from a prompt, a start image, or both',
      document: makeTextToVideoDocument(),
      examples: TEXT_TO_VIDEO_EXAMPLES,
    }),
    textToVideo(deps, img2video, {
      summary: 'Make a video from a start image',
      document: makeTextToVideoDocument(1),
      examples: IMAGE_TO_VIDEO_EXAMPLES,
    }),
    textToVideo(deps, startEnd2video, {
      summary: 'Make a video from its first and its last frame',
      document: makeTextToVideoDocument(2),
      examples: START_END_EXAMPLES,
    }),
    defineRoute({
      ...commonOf(deps, extend, {
        document: makeExtendDocument(deps.extendSource),
        examples: EXTEND_EXAMPLES,
      }),
      summary: 'Make a video longer',
      description: `${NOT_GENERATIVE} The result is the whole video: the source, then what is added from its last frame on.`,
      responses: made(ExtendRecord, EXTEND_RECORD),
      errors: [...CREATION_ERRORS, 'task_not_found'],
    }),
  ]
}

const commonOf = (
  deps: VideoTaskDeps,
  creation: Creation,
  shown: Pick<BodySpec, 'document' | 'examples'>,
) => ({
  ...makeCreationParts(deps, creation, shown),
  tag: 'Video tasks',
  auth: deps.videoAuth,
})

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

interface TextToVideo extends Required<Pick<BodySpec, 'document' | 'examples'>> {
  summary: string
}

const textToVideo = (
  deps: VideoTaskDeps,
  creation: Creation,
  { summary, ...shown }: TextToVideo,
): Route =>
  defineRoute({
    ...commonOf(deps, creation, shown),
    summary,
    description: NOT_GENERATIVE,
    responses: made(TextToVideoRecord, TEXT_TO_VIDEO_RECORD),
    errors: [...CREATION_ERRORS, 'incompatible_fields'],
  })
