import type { components } from '../generated/openapi.ts'

/** Every code of the service's catalogue of errors. */
export type ServiceErrorCode = components['schemas']['Error']['error']

/**
 * `unreachable`: no response; `answer_unknown`: a response of a proxy; `bytes_spent`: a stream that was read already was to
 * be sent again.
 */
export type ErrorCode = ServiceErrorCode | 'unreachable' | 'answer_unknown' | 'bytes_spent'

interface ErrorBody {
  code: ErrorCode
  message: string
  /** HTTP status; undefined where no response came. */
  status?: number | undefined
  details?: readonly string[] | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** A request that was rejected, or that got no response, after its last retry. */
export class KilnError extends Error {
  override readonly name = 'KilnError'
  readonly code: ErrorCode
  readonly status: number | undefined
  /** One sentence for each issue of the request: field, expectation, value. */
  readonly details: readonly string[]
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined
  /** When the service says it is worth trying again. */
  readonly retryAfterSeconds: number | undefined

  constructor({ code, message, cause, ...rest }: ErrorBody) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
    this.status = rest.status
    this.details = rest.details ?? []
    this.requestId = rest.requestId
    this.retryAfterSeconds = rest.retryAfterSeconds
  }
}

/** Codes of errors that pass: the same request may succeed later. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unreachable',
  'request_timeout',
  'idempotency_in_flight',
  'rate_limited',
  'streams_exceeded',
  'unavailable',
  'busy',
  'outcome_unknown',
  'auth_unavailable',
  'draining',
])
/** True when it is worth sending the same request again. */
export const isPassing = (error: unknown): error is KilnError =>
  error instanceof KilnError &&
  (PASSING.has(error.code) ||
    // Of a proxy before a service that is away.
    (error.code === 'answer_unknown' && [502, 503, 504].includes(error.status ?? 0)))

/** Awaits a read; undefined where the service responds with 404. */
export const orMissing = async <T>(asked: Promise<T>): Promise<T | undefined> =>
  await asked.catch((error: unknown) => {
    if (error instanceof KilnError && error.status === 404) return undefined
    throw error
  })

/** Reads the error from a response that is no success, and consumes its body. */
export const readError = async (response: Response): Promise<KilnError> => {
  const { status, url } = response
  const text = await response.text().catch(() => '')
  const body = parseError(text)
  return new KilnError({
    code: body?.error ?? 'answer_unknown',
    message:
      body?.message ??
      `${url} responded with ${status}, which is no error of this service: ${text.slice(0, 200)}`,
    status,
    details: body?.details,
    requestId: body?.request_id,
    retryAfterSeconds: readRetryAfter(response),
  })
}

const parseError = (text: string): components['schemas']['Error'] | undefined => {
  try {
    const body = JSON.parse(text) as components['schemas']['Error']
    return typeof body.error === 'string' && typeof body.message === 'string' ? body : undefined
  } catch {
    return undefined
  }
}

/** Seconds of Retry-After, which is a number or a date. */
export const readRetryAfter = ({ headers }: Response): number | undefined => {
  const text = headers.get('retry-after') ?? ''
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
