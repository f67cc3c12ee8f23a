import type { components } from '../generated/openapi.ts'

/** Every code of the service's catalogue of errors. */
export type ServiceErrorCode = components['schemas']['Error']['error']

/**
 * `unreachable`: no answer came. `answer_unknown`: an answer came that is none of this service, such as a proxy's page.
 * `bytes_spent`: a stream that can be read once was to be sent again.
 */
export type ErrorCode = ServiceErrorCode | 'unreachable' | 'answer_unknown' | 'bytes_spent'

interface Fault {
  code: ErrorCode
  message: string
  status?: number | undefined
  details?: readonly string[] | undefined
  requestId?: string | undefined
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/** A request that was refused, or that had no answer, after its last retry. */
export class KilnError extends Error {
  override readonly name = 'KilnError'
  readonly code: ErrorCode
  /** Status of the answer; undefined where none came. */
  readonly status: number | undefined
  /** One sentence for each fault of the request: field, expectation, value. */
  readonly details: readonly string[]
  /** Finds the request in the service's log. */
  readonly requestId: string | undefined
  /** When the service says it is worth trying again. */
  readonly retryAfterSeconds: number | undefined

  constructor({ code, message, cause, ...rest }: Fault) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
    this.status = rest.status
    this.details = rest.details ?? []
    this.requestId = rest.requestId
    this.retryAfterSeconds = rest.retryAfterSeconds
  }
}

/** Codes of faults that pass: the same request may succeed later. */
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
/** Answers of proxies before a service that is away. */
const GATEWAY_STATUSES: readonly (number | undefined)[] = [502, 503, 504]

/** Whether it is worth sending the same request again. */
export const isPassing = (error: unknown): error is KilnError =>
  error instanceof KilnError &&
  (PASSING.has(error.code) ||
    (error.code === 'answer_unknown' && GATEWAY_STATUSES.includes(error.status)))

/** Reads why an answer is no success. It takes its body. */
export const readFault = async (response: Response): Promise<KilnError> => {
  const text = await response.text().catch(() => '')
  const { status } = response
  const body = parseError(text)
  const retryAfterSeconds = readRetryAfter(response)
  if (!body)
    return new KilnError({
      code: 'answer_unknown',
      message: `${response.url} answered ${status}, which is no error of this service: ${text.slice(0, 200)}`,
      status,
      retryAfterSeconds,
    })
  return new KilnError({
    code: body.error,
    message: body.message,
    status,
    details: body.details,
    requestId: body.request_id,
    retryAfterSeconds,
  })
}

const parseError = (text: string): components['schemas']['Error'] | undefined => {
  try {
    const body = JSON.parse(text) as Partial<components['schemas']['Error']>
    if (typeof body.error === 'string' && typeof body.message === 'string')
      return body as components['schemas']['Error']
  } catch {
    // Not of this service.
  }
  return undefined
}

/** Seconds of Retry-After, which is a number or a date. */
export const readRetryAfter = ({ headers }: Response): number | undefined => {
  const text = headers.get('retry-after') ?? ''
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
