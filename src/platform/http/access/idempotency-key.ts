import type { IncomingHttpHeaders } from 'node:http'

import { IDEMPOTENCY_KEY } from '../../domain/idempotency-key.ts'
import { apiError, shown } from '../../domain/errors.ts'

/** A key, bare or as a quoted string. */
export const IDEMPOTENCY_KEY_FORM = new RegExp(
  String.raw`^(?:"([\x21\x23-\x7e]{1,255})"|(${IDEMPOTENCY_KEY}))$`,
)

/** The request's key, bare or as a quoted string; undefined when it has none. Throws 400 for any other form. */
export const readIdempotencyKey = (headers: IncomingHttpHeaders): string | undefined => {
  const given = headers['idempotency-key']
  if (given === undefined) return undefined
  const match = typeof given === 'string' ? IDEMPOTENCY_KEY_FORM.exec(given) : null
  const key = match?.[1] ?? match?.[2]
  if (key !== undefined) return key
  const message = `Idempotency-Key must be 1 to 255 visible ASCII characters, bare or quoted, got ${shown(given)}`
  throw apiError('idempotency_key_invalid', message, { details: [message] })
}
