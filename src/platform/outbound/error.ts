/**
 * Messages of failed requests to an address that a caller named. Each fits behind a field, as in `/image: the host name
 * could not be resolved`, and says nothing of what is behind a rejected address.
 */
export const OUTBOUND_ERRORS = {
  address_refused: 'address not allowed',
  downgrade: 'redirected from https to http',
  dns: 'the host name could not be resolved',
  connect: 'no connection could be made',
  tls: 'no secure connection could be made',
  timeout: 'the response took too long',
  reset: 'the connection ended before the response did',
  status: 'the response was not a success',
  redirect_invalid: 'the response redirects to a text that is no address',
  too_many_redirects: 'too many redirects',
  too_large: 'over the byte limit',
  compressed: 'the response came compressed, and not as gzip or br',
  unknown: 'the response could not be read',
}

export type OutboundErrorKind = keyof typeof OUTBOUND_ERRORS

/** A request that failed for a reason outside this service. The message may be shown, `cause` is for operators. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly kind: OutboundErrorKind
  /** Status of the response, when that was the reason. */
  readonly status: number | undefined
  /** Host and port to which no connection could be made. */
  at?: string

  constructor(
    kind: OutboundErrorKind,
    message: string = OUTBOUND_ERRORS[kind],
    options: ErrorOptions & { status?: number } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.status = options.status
  }
}

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
