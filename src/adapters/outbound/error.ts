import { TaskError, type TaskErrorCode } from '../../domain/task/task-error.ts'

interface ErrorKind {
  /** Fits behind a field: `/image: the host name could not be resolved`. */
  message: string
  imageTask: TaskErrorCode
}

/** Errors of a request to an address that a caller named. No message says what is behind a rejected address. */
export const OUTBOUND_ERRORS = {
  address_refused: { message: 'address not allowed', imageTask: 'address_refused' },
  downgrade: { message: 'redirected from https to http', imageTask: 'address_refused' },
  dns: { message: 'the host name could not be resolved', imageTask: 'download_failed' },
  connect: { message: 'no connection could be made', imageTask: 'download_failed' },
  tls: { message: 'no secure connection could be made', imageTask: 'download_failed' },
  timeout: { message: 'the response took too long', imageTask: 'download_failed' },
  reset: { message: 'the connection ended before the response did', imageTask: 'download_failed' },
  status: { message: 'the response was not a success', imageTask: 'download_failed' },
  redirect_invalid: {
    message: 'the response redirects to a text that is no address',
    imageTask: 'download_failed',
  },
  too_many_redirects: { message: 'too many redirects', imageTask: 'download_failed' },
  too_large: { message: 'over the byte limit', imageTask: 'file_too_large' },
  compressed: {
    message: 'the response came compressed, and not as gzip or br',
    imageTask: 'download_failed',
  },
  unknown: { message: 'the response could not be read', imageTask: 'download_failed' },
} as const satisfies Record<string, ErrorKind>

export type OutboundErrorKind = keyof typeof OUTBOUND_ERRORS

/** A request that failed for a reason outside this service. The message may be shown, `cause` is for operators. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly kind: OutboundErrorKind
  /** Status of the response, when that was the reason. */
  readonly status: number | undefined

  constructor(
    kind: OutboundErrorKind,
    message: string = OUTBOUND_ERRORS[kind].message,
    options: ErrorOptions & { status?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = options.status
  }
}

/** The error an image task ends with when fetching `field` (a JSON Pointer such as `/image`) failed. */
export const toTaskError = (error: OutboundError, field: string): TaskError =>
  new TaskError(OUTBOUND_ERRORS[error.kind].imageTask, `${field}: ${error.message}`, {
    cause: error,
  })

/**
 * The OutboundError for an error of undici. An error without a code of the socket or of HTTP is `unknown`, never passed
 * through: its message may hold an address.
 */
export const toOutboundError = (error: unknown): OutboundError => {
  if (error instanceof OutboundError) return error
  return new OutboundError(kindOf(error), undefined, { cause: error })
}

const kindOf = (error: unknown): OutboundErrorKind => {
  if (!(error instanceof Error)) return 'unknown'
  // A chunked body without its end: the parser has a code for it, undici loses it.
  if (error.message.includes('(Invalid EOF state)')) return 'reset'
  return ('code' in error && KIND_OF_CODE[String(error.code)]) || 'unknown'
}

const KIND_OF_CODE: Partial<Record<string, OutboundErrorKind>> = {
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
}
