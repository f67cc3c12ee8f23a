import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { Duplex } from 'node:stream'

import type { Express } from 'express'

import { apiError, type ApiError } from '../../domain/errors.ts'
import type { Pace } from '../../json-body/pace.ts'
import { CONNECTIONS, limitConnections, type ConnectionLimits } from './connection-limit.ts'
import { errorBody, type ErrorForm } from './errors.ts'
import { readRequestId } from './request-id.ts'
import { closeSlowReaders, READER_PACES } from './slow-reader.ts'

export interface ServerOptions {
  connections?: ConnectionLimits
  /** Addresses and networks of proxies, whose connections are counted in the total alone. */
  trustProxy?: readonly string[]
  /** The least speeds at which a client must take responses. */
  readerPaces?: readonly Pace[]
  /** Absent: the errors of all routes have one form. */
  errorForm?: ErrorForm
}

/**
 * Makes the HTTP server with the limits that hold before any route is known. Node checks its time-outs only every
 * `connectionsCheckingInterval`: with the default of 30 s a limit of 10 s becomes 40 s. The parser rejects a body of
 * doubtful length (two lengths, or a length beside chunks), because a proxy in front may read it differently.
 */
export const makeServer = (
  app: Express,
  {
    readerPaces = READER_PACES,
    connections = CONNECTIONS,
    trustProxy = [],
    errorForm,
  }: ServerOptions = {},
): Server => {
  const compose = makeCompose(errorForm)
  const { listener, onClientError } = guard(app, compose)
  const server = createServer(
    {
      ...messagesOf(app),
      headersTimeout: 10_000,
      requestTimeout: 300_000,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: 16_384,
      insecureHTTPParser: false,
      // Node would reject a missing Host without a body; `guard` rejects it in our one shape.
      requireHostHeader: false,
    },
    listener,
  )
  // Node would leave out all after the first 1,000 unseen: a credential, or what a proxy says of the client.
  server.maxHeadersCount = 0
  limitConnections(server, connections, trustProxy)
  closeSlowReaders(server, readerPaces)
  server.on('clientError', onClientError)
  // Express takes the request over; the default would respond with 100 before auth and length are checked.
  server.on('checkContinue', listener)
  server.on('checkExpectation', listener)
  server.on('connect', (_request, socket) =>
    reject(
      socket,
      compose(apiError('bad_request', 'This service is no proxy: it does not take CONNECT.'), ''),
    ),
  )
  return server
}

/** Makes message classes with the prototypes that Express sets on each message: docs/decisions.md, Requests and responses. */
const messagesOf = (app: Express) => {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request) as Express['request']
  app.response = Object.setPrototypeOf(Response.prototype, app.response) as Express['response']
  return { IncomingMessage: Request, ServerResponse: Response }
}

/** Most requests of one connection without a response: hardly a client sends a second before it has the first. */
const MAX_PENDING_REQUESTS = 8

/**
 * Responds in our one shape to requests that never reach a route: the parser rejects them, or Express cannot read them.
 * Closes a connection with too many pending requests.
 */
const guard = (app: RequestListener, compose: Compose) => {
  const current = new WeakMap<Duplex, ServerResponse>()
  const pending = new WeakMap<Duplex, number>()
  const count = (socket: Duplex, change: 1 | -1): number => {
    const all = (pending.get(socket) ?? 0) + change
    pending.set(socket, all)
    return all
  }
  const rejected = new WeakSet<Duplex>()
  return {
    listener: (request: IncomingMessage, response: ServerResponse): void => {
      const { socket } = request
      // A request that came in one piece with the one that ended the connection.
      if (socket.destroyed) return
      if (count(socket, 1) > MAX_PENDING_REQUESTS) {
        socket.destroy()
        return
      }
      response.once('close', () => count(socket, -1))
      current.set(socket, response)
      if (takeTarget(request)) app(request, response)
      else respond(response, compose(apiError('bad_request', NO_TARGET), pathOf(request)))
    },
    onClientError: (error: NodeJS.ErrnoException, socket: Duplex): void => {
      // The parser complains again about each further piece; destroying the socket then would lose the response.
      if (rejected.has(socket)) return
      rejected.add(socket)
      const response = current.get(socket)
      const isResponding = response?.headersSent === true && !response.writableFinished
      if (error.code === 'ECONNRESET' || !socket.writable || isResponding) socket.destroy()
      else
        reject(
          socket,
          compose(CLIENT_ERRORS[error.code ?? '']?.() ?? apiError('bad_request'), undefined),
        )
    },
  }
}

/**
 * Brings the target of a request into the form that Express reads. A server must also take `GET http://host/path`, and
 * Express cannot route one that does not parse. False: there is no target, two Hosts, or none in HTTP/1.1.
 */
const takeTarget = (request: IncomingMessage): boolean => {
  const target = request.url ?? ''
  const hosts = request.headersDistinct['host']?.length ?? 0
  if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) return false
  if (target.startsWith('/') || target === '*') return true
  if (!URL.canParse(target)) return false
  const { pathname, search } = new URL(target)
  request.url = pathname + search
  return pathname.startsWith('/')
}

const NO_TARGET =
  'A request must have a target that begins with / or is an absolute URL, and one Host.'

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1).join('')

const CLIENT_ERRORS: Record<string, () => ApiError> = {
  HPE_HEADER_OVERFLOW: () => apiError('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => apiError('request_timeout'),
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}

interface Rejection {
  status: number
  headers: Record<string, string>
  body: string
}

type Compose = (error: ApiError, path: string | undefined) => Rejection

/** Makes what composes a rejection. The connection ends with it, because nothing that follows on it can be trusted. */
const makeCompose =
  (form: ErrorForm | undefined): Compose =>
  (error, path) => {
    const requestId = readRequestId({})
    const body = JSON.stringify(errorBody(error, { requestId, path, form }))
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'X-Request-Id': requestId,
      Connection: 'close',
    }
    return { status: error.status, headers, body }
  }

const respond = (response: ServerResponse, { status, headers, body }: Rejection): void => {
  response.writeHead(status, headers).end(body)
}

/** Time for the client to read the rejection before the socket goes, read or not. */
const LINGER_MS = 1000

const reject = (socket: Duplex, { status, headers, body }: Rejection): void => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.on('error', () => {})
  socket.end([`HTTP/1.1 ${status} ${REASONS[status]}`, ...lines, '', body].join('\r\n'))
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
