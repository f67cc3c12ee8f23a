import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's X-Request-Id when it is well-formed, else a new one. */
export const readRequestId = (headers: IncomingHttpHeaders): string => {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}
