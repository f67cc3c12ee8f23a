import { Type, type Static } from 'typebox'

import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'
import { LabelFilter } from '../task-options.ts'
import { RESOLUTIONS, VIDEO_MODEL_NAMES } from './video-model.ts'
import { VideoTaskState } from './video-task.ts'

/** The furthest task that a page number may reach. Page tokens lead beyond it. */
const VIDEO_LIST_REACH = 10_000

/** A list without `created_at.from` begins this many seconds ago: 7 days. */
export const VIDEO_LIST_SECONDS = 604_800

/** The last page returns an empty token. */
export const VIDEO_LIST_EMPTY_IS_ABSENT = ['pager.page_token'] as const

/** Filters of GET /tasks. Lists come as repeated names or with commas; the reader of the query makes lists of them. */
export const VideoTaskQuery = Type.Object({
  'created_at.from': Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Tasks made at this time or later; without it those of the last 7 days.',
    }),
  ),
  'created_at.to': Type.Optional(
    Type.String({ format: 'date-time', description: 'Tasks made before this time.' }),
  ),
  task_ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
      minItems: 1,
      description: 'Only these tasks. Required without a credential.',
    }),
  ),
  states: Type.Optional(
    Type.Array(VideoTaskState, { minItems: 1, description: 'Only tasks in these states.' }),
  ),
  model_versions: Type.Optional(
    Type.Array(Type.Enum(VIDEO_MODEL_NAMES), {
      minItems: 1,
      description: 'Only tasks of these models.',
    }),
  ),
  resolutions: Type.Optional(
    Type.Array(Type.Enum([...RESOLUTIONS]), {
      minItems: 1,
      description: 'Only tasks of these resolutions.',
    }),
  ),
  label: LabelFilter,
  'pager.pagesz': Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 10,
    description: 'Tasks a page.',
  }),
  'pager.page_token': Type.Optional(
    Type.String({ maxLength: 1_024, description: 'The `next_page_token` of the page before.' }),
  ),
  'pager.page': Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `Page, from 0; page × size is at most ${VIDEO_LIST_REACH}.`,
    }),
  ),
})
export type VideoTaskQuery = Static<typeof VideoTaskQuery>

/**
 * The rules of the filters that their schema cannot say.
 * @param isAnonymous without a credential: nobody may list what all anonymous callers share
 */
export const validateVideoTaskQuery = (
  query: Readonly<Record<string, unknown>>,
  { isAnonymous }: { isAnonymous: boolean },
): Issue[] => [
  ...(isAnonymous && query['task_ids'] === undefined
    ? [makeIssue('?task_ids', 'must be given when the request has no credential, but is absent')]
    : []),
  ...validateReach(query['pager.page'], query['pager.pagesz']),
]

const validateReach = (page: unknown, size: unknown): Issue[] => {
  if (typeof page !== 'number' || typeof size !== 'number' || page * size <= VIDEO_LIST_REACH)
    return []
  const rule = `must be such that page × size is at most ${VIDEO_LIST_REACH}`
  return [makeIssue('?pager.page', `${rule}, got ${page} × ${size}`)]
}

/** Body of POST /tasks/{id}/cancel: empty, `{}`, or the id again. */
export const VideoCancelBody = Type.Object({
  id: Type.Optional(Type.String({ description: 'The id in the path, when given at all.' })),
})
export type VideoCancelBody = Static<typeof VideoCancelBody>
