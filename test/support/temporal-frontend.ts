import { once } from 'node:events'
import {
  connect,
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'

import type { Certificate } from './certificate.ts'
import { watchSockets } from './network.ts'

export interface FrontendOptions {
  /** host:port of the server behind it; absent for tests of the handshake alone. */
  target?: string
  certificate?: Certificate | undefined
  /** Certificates of clients, one of which is asked for. */
  clients?: string[] | undefined
  /** Metadata `authorization: Bearer <key>` that each call must have. */
  apiKey?: string
}

/** Status of gRPC and its message. */
export type Rejection = readonly [code: number, message: string]

/** The way to a Temporal that others run: TLS, client certificates, API keys, permissions and limits. */
export interface TemporalFrontend {
  address: string
  /** Methods that passed and those that did not. */
  calls: string[]
  /** Decides about a call by its method; all pass while it is absent. */
  reject?: ((method: string) => Rejection | undefined) | undefined
  /** Takes other certificates from now on, and ends all connections. */
  replace(certificate: Certificate, clients: string[]): void
  close(): Promise<void>
}

/** Starts a frontend on a free port of 127.0.0.1. */
export const startTemporalFrontend = async (
  options: FrontendOptions,
): Promise<TemporalFrontend> => {
  const { certificate, clients, target, apiKey } = options
  const server = certificate
    ? createSecureServer({ ...certificate, ...askFor(clients) })
    : createServer()
  const sockets = watchSockets(server)
  server.on('error', () => {})
  server.on('sessionError', () => {})
  server.on('session', (session: ServerHttp2Session) => session.on('error', () => {}))
  const frontend: Omit<TemporalFrontend, 'address' | 'replace' | 'close'> = { calls: [] }
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const method = String(headers[':path']).split('/').at(-1) ?? ''
    frontend.calls.push(method)
    const isKnown = apiKey === undefined || headers.authorization === `Bearer ${apiKey}`
    const rejection = isKnown ? frontend.reject?.(method) : ([16, 'unknown API key'] as const)
    if (rejection) return respondWith(stream, rejection)
    if (target !== undefined) pass(stream, headers, target)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(frontend, {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    replace(next: Certificate, asked: string[]) {
      ;(server as Http2SecureServer).setSecureContext({ ...next, ...askFor(asked) })
      sockets.destroy()
    },
    async close() {
      sockets.destroy()
      await closeServer(server)
    },
  })
}

const askFor = (clients: string[] | undefined) =>
  clients === undefined ? {} : { ca: clients, requestCert: true, rejectUnauthorized: true }

const closeServer = async (server: Http2Server): Promise<void> => {
  server.close()
  await once(server, 'close')
}

const respondWith = (stream: ServerHttp2Stream, [code, message]: Rejection): void =>
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(code),
      'grpc-message': encodeURIComponent(message),
    },
    { endStream: true },
  )

/** Hands a call on by a connection of its own, with the trailers that gRPC ends with. */
const pass = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, target: string): void => {
  const session = connect(`http://${target}`)
  const end = (): void => {
    session.destroy()
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL)
  }
  session.on('error', end)
  const call = session.request({ ...headers, ':scheme': 'http', ':authority': target })
  let trailers: IncomingHttpHeaders = {}
  call.on('error', end)
  stream.on('error', end)
  stream.on('close', () => session.destroy())
  call.on('response', (response, flags) => {
    if (stream.closed || stream.destroyed) return
    // A call that failed has its trailers as its only headers.
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
    stream.respond({ ...response }, isWhole ? { endStream: true } : { waitForTrailers: true })
    if (!isWhole) call.pipe(stream)
  })
  call.on('trailers', (sent) => (trailers = sent))
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  stream.pipe(call)
}
