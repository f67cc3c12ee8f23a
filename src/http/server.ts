import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { Duplex } from 'node:stream'

import { apiError } from '../domain/errors.ts'
import type { ApiError } from '../domain/errors.ts'
import { errorBody } from './errors.ts'
import { readRequestId } from './request-id.ts'

/**
 * Makes the HTTP server with the limits that hold before any route is known. Node checks its time-outs only every
 * `connectionsCheckingInterval`: with the default of 30 s a limit of 10 s becomes 40 s.
 */
export const makeServer = (app: RequestListener): Server => {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 300_000,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
      // Both are bodies of doubtful length, which a proxy in front may read otherwise than we do.
      insecureHTTPParser: false,
    },
    app,
  )
  server.maxConnections = 2000
  server.on('clientError', answerClientError)
  // Express takes the request over; the default would answer 100 before auth and length are judged.
  server.on('checkContinue', app)
  server.on('checkExpectation', app)
  return server
}

const CLIENT_ERRORS: Record<string, () => ApiError> = {
  HPE_HEADER_OVERFLOW: () => apiError('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => apiError('request_timeout'),
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

/** What the parser refuses never reaches a route, and is answered in the same JSON. */
const answerClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const known = CLIENT_ERRORS[error.code ?? '']?.() ?? apiError('bad_request')
  const requestId = readRequestId({})
  const body = JSON.stringify(errorBody(known, requestId))
  socket.end(
    [
      `HTTP/1.1 ${known.status} ${REASONS[known.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}
