import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Pointer } from 'typebox/value'

import type { Fault } from './validate.ts'

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

/** The error of an answer, as far as its reason word depends on it. */
export interface ErrorFacts {
  code: string
  status: number
  message: string
  /** One sentence for each fault. */
  details?: readonly string[] | undefined
}

/**
 * `details` of an error on a video route: the reason word, then the faults, or the message when there are none.
 * @param faults those of a refused body or query, in the order in which they are told
 * @param given that body or query, by which a missing member is known
 */
export const videoDetails = (
  error: ErrorFacts,
  faults: readonly Fault[] = [],
  given?: unknown,
): string[] => {
  const [first] = faults
  const reason =
    first && error.code === 'validation_failed' ? faultReason(first, given) : errorReason(error)
  return [reason, ...(error.details ?? [error.message])]
}

/** The word for an error; codes without one of their own go by their status. */
export const errorReason = ({ code, status }: Pick<ErrorFacts, 'code' | 'status'>): VideoReason =>
  BY_CODE.get(code) ?? BY_STATUS.get(status) ?? byClass(status)

/** The word for a fault of a field, which the first of several decides. */
export const faultReason = (fault: Fault, given: unknown): VideoReason => {
  const value = Pointer.Get(given ?? {}, fault.field.replace(/^\?/, '/'))
  if (value === undefined || value === null) return 'FieldLacking'
  // Every other fault of a list is one of its items.
  return Array.isArray(value) ? 'FieldItemCountOutOfRange' : 'FieldInvalid'
}

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
