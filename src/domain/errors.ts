import type { VideoReason } from './video-reason.ts'

/**
 * The one list of what can go wrong for a caller. Routes throw `errors.x(…)`, `http/errors.ts` renders it, OpenAPI and
 * the documentation table are made from `ERROR_CODES`.
 */

interface ErrorCode {
  status: number
  /** The status on video routes, where their clients expect another. */
  videoStatus?: number
  meaning: string
}

export const ERROR_CODES = {
  json_invalid: { status: 400, meaning: 'The body is not one well-formed JSON object.' },
  json_too_deep: { status: 400, meaning: 'The body nests deeper than 64 levels.' },
  body_required: { status: 400, meaning: 'The route needs a body and none was sent.' },
  bad_request: { status: 400, meaning: 'The request is not well-formed HTTP.' },
  path_invalid: { status: 400, meaning: 'The path holds an escape that does not decode, or NUL.' },
  idempotency_key_invalid: {
    status: 400,
    meaning: 'Idempotency-Key is not 1 to 255 visible ASCII characters.',
  },
  validation_failed: {
    status: 400,
    meaning: 'At least one member of the request breaks a rule; details lists every fault.',
  },
  incompatible_fields: { status: 400, meaning: 'Two members that exclude each other were given.' },
  url_refused: {
    status: 400,
    meaning: 'A URL has a scheme, port, user or address that this service does not call.',
  },
  image_invalid: {
    status: 400,
    meaning: 'An inline image is not Base64, or not a decodable image.',
  },
  checksum_mismatch: {
    status: 400,
    meaning: 'The bytes do not have the digest that a header gives.',
  },
  pixel_limit: { status: 400, meaning: 'An image, or the result asked for, has too many pixels.' },
  unauthorized: { status: 401, meaning: 'The credential is missing or not valid.' },
  insufficient_credits: {
    status: 402,
    meaning: 'The charge would pass the credit limit of the caller.',
  },
  forbidden: { status: 403, meaning: 'The credential is valid but does not allow this.' },
  signature_invalid: { status: 403, meaning: 'The signature of the link does not match.' },
  link_expired: {
    status: 403,
    meaning: 'The link has expired; read the task again for a fresh one.',
  },
  upload_expired: { status: 403, meaning: 'The upload link has expired; ask for a new one.' },
  not_found: { status: 404, meaning: 'There is no such route.' },
  task_not_found: { status: 404, meaning: 'There is no such task among those of the caller.' },
  api_key_not_found: {
    status: 404,
    meaning: 'There is no such API key among those of the caller.',
  },
  event_not_found: { status: 404, meaning: 'The task has no such event.' },
  file_not_found: { status: 404, meaning: 'The link names a file that is not there.' },
  method_not_allowed: { status: 405, meaning: 'The path exists, with the methods in Allow.' },
  request_timeout: { status: 408, meaning: 'The request arrived too slowly.' },
  idempotency_in_flight: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still running.',
  },
  cannot_cancel: {
    status: 409,
    videoStatus: 400,
    meaning: 'The task has already ended; a video task: is being rendered, or has ended.',
  },
  not_deliverable: { status: 409, meaning: 'The task names no address to deliver to.' },
  file_gone: { status: 410, meaning: 'The file was removed after its retention time.' },
  body_too_large: {
    status: 413,
    meaning: 'The body, or one image in it, is over the limit of the route.',
  },
  unsupported_media_type: { status: 415, meaning: 'The body must be application/json in UTF-8.' },
  unsupported_encoding: { status: 415, meaning: 'Content-Encoding is not supported.' },
  range_not_satisfiable: { status: 416, meaning: 'The Range lies outside the file.' },
  idempotency_mismatch: {
    status: 422,
    meaning: 'The Idempotency-Key was used before with another body.',
  },
  headers_too_large: { status: 431, meaning: 'The headers are over 16 KiB.' },
  internal_error: {
    status: 500,
    meaning: 'A fault of this service; the request_id finds it in the log.',
  },
  unavailable: {
    status: 503,
    meaning: 'A service this one depends on cannot be reached; try again.',
  },
  busy: { status: 503, meaning: 'Too many bytes are being uploaded at once; try again.' },
  outcome_unknown: {
    status: 503,
    meaning: 'The commit was not confirmed; repeat with the same Idempotency-Key.',
  },
  auth_unavailable: { status: 503, meaning: 'The key set of the issuer was never reached.' },
  draining: { status: 503, meaning: 'This process is stopping; try again.' },
} as const satisfies Record<string, ErrorCode>

export type ErrorCodeName = keyof typeof ERROR_CODES

/** The status of a code on video routes. */
export const videoStatusOf = (code: ErrorCodeName): number => {
  const { status, videoStatus = status }: ErrorCode = ERROR_CODES[code]
  return videoStatus
}

export interface ApiErrorOptions {
  /** The catalogue's for the code unless given. */
  status?: number
  /** One sentence for each fault: field, expectation, value. */
  details?: string[]
  /** The word that clients of video routes go by, where code and status do not decide it. */
  reason?: VideoReason
  headers?: Record<string, string>
  /** Members beside `error` and `message`, such as `error_type`. */
  extra?: Record<string, string>
  cause?: unknown
}

/** A fault that the caller is told about: code, status and message go out as they are, `cause` only to the log. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCodeName
  readonly status: number
  readonly details: string[] | undefined
  readonly reason: VideoReason | undefined
  readonly headers: Record<string, string>
  readonly extra: Record<string, string>

  constructor(code: ErrorCodeName, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.status = options.status ?? ERROR_CODES[code].status
    this.details = options.details
    this.reason = options.reason
    this.headers = options.headers ?? {}
    this.extra = options.extra ?? {}
  }
}

/** Makes the error of a code, with the catalogue's sentence unless a better one is given. */
export const apiError = (
  code: ErrorCodeName,
  message: string = ERROR_CODES[code].meaning,
  options: ApiErrorOptions = {},
): ApiError => new ApiError(code, message, options)

/** A value as it may stand in a message: JSON, cut at 80 characters (code points). */
export const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  const points = Array.from(text.slice(0, 400))
  return points.length > 80 ? `${points.slice(0, 79).join('')}…` : text
}

const retryAfter = (seconds: number) => ({ 'retry-after': String(seconds) })

export const errors = {
  validationFailed: (details: string[]) =>
    apiError('validation_failed', details[0] ?? 'The request is not valid.', { details }),
  unauthorized: (cause?: unknown) =>
    apiError('unauthorized', 'A valid credential is required.', {
      headers: { 'www-authenticate': 'Bearer' },
      cause,
    }),
  taskNotFound: (id: string) => apiError('task_not_found', `There is no task ${shown(id)}.`),
  apiKeyNotFound: (id: string) =>
    apiError('api_key_not_found', `There is no API key ${shown(id)}.`),
  eventNotFound: (id: string) => apiError('event_not_found', `The task has no event ${shown(id)}.`),
  notDeliverable: () => apiError('not_deliverable'),
  routeNotFound: (path: string) => apiError('not_found', `There is no route ${shown(path)}.`),
  methodNotAllowed: (method: string, path: string, allow: string[]) =>
    apiError('method_not_allowed', `${shown(path)} does not take ${method}.`, {
      headers: { allow: allow.join(', ') },
    }),
  cannotCancel: (status: string) =>
    apiError('cannot_cancel', `The task is ${status} and can no longer be cancelled.`),
  cannotCancelVideo: (state: string) =>
    // The words are those that clients of video routes know.
    apiError('cannot_cancel', `task state is ${state}, can not cancel`, {
      status: videoStatusOf('cannot_cancel'),
    }),
  insufficientCredits: (credits: number) =>
    apiError(
      'insufficient_credits',
      `The task costs ${credits} credits, and the caller has fewer left.`,
    ),
  idempotencyInFlight: () =>
    apiError('idempotency_in_flight', ERROR_CODES.idempotency_in_flight.meaning, {
      headers: retryAfter(1),
      extra: { error_type: 'idempotency_in_flight' },
    }),
  idempotencyMismatch: () =>
    apiError('idempotency_mismatch', ERROR_CODES.idempotency_mismatch.meaning, {
      extra: { error_type: 'idempotency_mismatch' },
    }),
  unavailable: (cause?: unknown) =>
    apiError('unavailable', ERROR_CODES.unavailable.meaning, { headers: retryAfter(2), cause }),
  outcomeUnknown: (cause?: unknown) =>
    apiError('outcome_unknown', ERROR_CODES.outcome_unknown.meaning, {
      headers: retryAfter(2),
      cause,
    }),
  busy: () => apiError('busy', ERROR_CODES.busy.meaning, { headers: retryAfter(2) }),
  draining: () => apiError('draining', ERROR_CODES.draining.meaning, { headers: retryAfter(1) }),
  authUnavailable: (cause?: unknown) =>
    apiError('auth_unavailable', ERROR_CODES.auth_unavailable.meaning, {
      headers: retryAfter(5),
      cause,
    }),
}
