import { Type, type Static } from 'typebox'
import { Pointer } from 'typebox/value'

import type { ErrorFacts } from '../../../platform/domain/errors.ts'
import type { Issue } from '../../../platform/domain/validate.ts'

/** The words that clients of video routes find in `details[0]`. */
export const VideoReason = Type.Enum([
  'BadRequest',
  'CreditInsufficient',
  'FieldInvalid',
  'FieldItemCountOutOfRange',
  'FieldLacking',
  'FieldUnwanted',
  'ImageFormatInvalid',
  'ImageSizeInvalid',
  'InternalServiceFailure',
  'NotFound',
  'OperationInProcess',
  'PageSizeOutOfRange',
  'SystemThrottling',
  'TaskNotFound',
  'TooManyRequests',
  'Unauthorized',
])
export type VideoReason = Static<typeof VideoReason>

/** `details` of an error on a video route: the reason word, then the issues, or the message when there are none. */
export const videoDetails = (error: ErrorFacts): string[] => [
  error.issue ? issueReason(error.issue, error.issue.given) : errorReason(error),
  ...(error.details ?? [error.message]),
]

/** The word for an error. Where a code has no word, the status decides. */
export const errorReason = ({ code, status }: { code: string; status: number }): VideoReason =>
  BY_CODE.get(code) ?? BY_STATUS.get(status) ?? byClass(status)

type Located = Pick<Issue, 'field' | 'isUnwanted'>

/**
 * Finds the word for an issue of a field. Of several issues the first decides.
 * @param given the body or query; it shows whether a member is missing
 */
export const issueReason = (issue: Located, given: unknown): VideoReason => {
  if (issue.isUnwanted) return 'FieldUnwanted'
  const value = Pointer.Get(given ?? {}, issue.field.replace(/^\?/, '/'))
  if (value === undefined || value === null) return 'FieldLacking'
  return isCounted(issue) && Array.isArray(value) ? 'FieldItemCountOutOfRange' : 'FieldInvalid'
}

/**
 * `images` is the only list of a body, so its length is what is wrong with it. Anywhere else a list is a value of the
 * wrong type.
 */
const isCounted = ({ field }: Located): boolean => field === '/images'

const BY_CODE: ReadonlyMap<string, VideoReason> = new Map<string, VideoReason>([
  ['validation_failed', 'FieldInvalid'],
  ['incompatible_fields', 'FieldUnwanted'],
  ['url_refused', 'FieldInvalid'],
  ['image_invalid', 'ImageFormatInvalid'],
  ['pixel_limit', 'ImageSizeInvalid'],
  ['task_not_found', 'TaskNotFound'],
  ['busy', 'SystemThrottling'],
])

const BY_STATUS: ReadonlyMap<number, VideoReason> = new Map<number, VideoReason>([
  [401, 'Unauthorized'],
  [402, 'CreditInsufficient'],
  [404, 'NotFound'],
  [409, 'OperationInProcess'],
  [413, 'PageSizeOutOfRange'],
  [422, 'FieldInvalid'],
  [429, 'TooManyRequests'],
])

const byClass = (status: number): VideoReason =>
  status >= 500 ? 'InternalServiceFailure' : 'BadRequest'
