interface S3Response {
  code: string
  /** Status of the response; undefined when there was none. */
  status?: number | undefined
}

/** Asked to come later. */
const TOO_MANY = 429

/** A request that the server rejected, or did not respond to. Its message holds nothing that was signed or sent. */
export class S3Error extends Error {
  override name = 'S3Error'
  /** As the server, or the system, calls it. */
  readonly code: string
  readonly status: number | undefined
  /** See `isOutage`. */
  readonly isOutage: boolean

  constructor(operation: string, message: string, { code, status }: S3Response) {
    super(`S3 ${operation}: ${[status, code, message].filter(Boolean).join(' ')}`)
    this.code = code
    this.status = status
    this.isOutage = status === undefined || status === TOO_MANY || status >= 500
  }
}
