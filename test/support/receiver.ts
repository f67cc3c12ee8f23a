import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificate } from './certificate.ts'
import { watchSockets } from './network.ts'
import { use } from './use.ts'

/** A request as it came, kept before the response. */
export interface Received {
  /** Unix milliseconds at which its body was complete. */
  at: number
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Names and values in turn, as they were sent. */
  rawHeaders: string[]
  body: Buffer
}

export interface Turn {
  request: Received
  response: ServerResponse
  /** Socket of the connection, for what no HTTP server would do. */
  socket: Socket
  /** Number of earlier requests to this path. */
  earlier: number
}

/** Response of a path. */
export type Reply = (turn: Turn) => void

export interface WebhookReceiver {
  port: number
  /** The address of a path; `host` when it is another name for this machine. */
  url: (path: string, host?: string) => string
  /** All requests in the order they came, over stops and starts. */
  received: Received[]
  of: (path: string) => Received[]
  /** Sets the response of a path from now on; any other path responds with 204. The query is part of the path. */
  script: (path: string, reply: Reply) => void
  /** Number of connections that it was offered, and of those that are open. */
  connections: () => number
  open: () => number
  /** Breaks every connection and rejects new ones, as a killed process does. */
  stop: () => Promise<void>
  start: () => Promise<void>
}

export interface WebhookReceiverOptions {
  certificate?: Certificate
  script?: Record<string, Reply>
}

/** A receiver of webhooks on a free port of 127.0.0.1 that fails in every way a test asks for. */
export const startWebhookReceiver = async ({
  certificate,
  script = {},
}: WebhookReceiverOptions = {}): Promise<WebhookReceiver> => {
  const replies = new Map(Object.entries(script))
  const counts = new Map<string, number>()
  const received: Received[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    // Of a client that left meanwhile there is nothing to keep.
    const chunks = (await request.toArray().catch(() => undefined)) as Buffer[] | undefined
    if (chunks === undefined) return
    const { method = '', url: path = '', headers, rawHeaders, socket } = request
    const body = Buffer.concat(chunks)
    const kept = { at: Date.now(), method, path, headers, rawHeaders, body }
    const earlier = counts.get(path) ?? 0
    counts.set(path, earlier + 1)
    received.push(kept)
    const reply = replies.get(path) ?? respond(204)
    reply({ request: kept, response, socket, earlier })
  }
  const server = certificate ? createTlsServer({ ...certificate }) : createServer()
  server.on('request', (request, response: ServerResponse) => void take(request, response))
  const sockets = watchSockets(server)
  const start = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await start(0)
  const scheme = certificate ? 'https' : 'http'
  return {
    port,
    url: (path, host = '127.0.0.1') => `${scheme}://${host}:${port}${path}`,
    received,
    of: (path) => received.filter((request) => request.path === path),
    script: (path, reply) => replies.set(path, reply),
    connections: sockets.offered,
    open: sockets.open,
    stop: async () => {
      sockets.destroy()
      server.close()
      await once(server, 'close')
    },
    start: async () => void (await start(port)),
  }
}

/** Starts a receiver before the first test of a file or a suite and stops it after the last. */
export const useWebhookReceiver = (options?: WebhookReceiverOptions): WebhookReceiver =>
  use(
    () => startWebhookReceiver(options),
    ({ stop }) => stop(),
  )

/** An ordinary response; `retry-after` and the `location` of a redirect are headers like others. */
export const respond =
  (status: number, headers: Record<string, string> = {}, body = ''): Reply =>
  ({ response }) => {
    response.writeHead(status, headers).end(body)
  }

/** The replies in turn, the last of them for good: `inTurn(respond(500), respond(500), respond(200))`. */
export const inTurn =
  (...replies: [Reply, ...Reply[]]): Reply =>
  (turn) =>
    (replies[turn.earlier] ?? replies.at(-1))?.(turn)

/** Takes the request and never responds. */
export const hang: Reply = () => {}

/** Responds when the promise is kept. */
export const heldUntil =
  (kept: Promise<unknown>, reply: Reply): Reply =>
  (turn) =>
    void kept.then(() => reply(turn))

/** Text as it is, and whatever is to happen with the connection then. */
export const write =
  (text: string, then: (socket: Socket) => void = () => {}): Reply =>
  ({ socket }) => {
    socket.write(text, () => then(socket))
  }

/** A text over and over, as fast as it is taken. */
export const pour =
  (text: string): Reply =>
  ({ socket }) =>
    pourInto(socket, text)

export const pourInto = (socket: Socket, text: string): void => {
  const piece = text.repeat(Math.ceil(65_536 / text.length))
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('error', () => {}).on('drain', more)
  more()
}

/** A head that comes a character at a time and never ends, not even its status line unless that is given. */
export const dripHead =
  (start = 'HTTP/1.1 200 O', everyMs = 20): Reply =>
  ({ socket }) => {
    socket.write(start)
    drip(socket, everyMs, 'K')
  }

/** A body that comes a character at a time, the first with its head, and never ends. */
export const dripBody =
  (status = 200, everyMs = 20): Reply =>
  ({ response }) => {
    response.writeHead(status, { 'content-type': 'text/plain' })
    drip(response, everyMs, '.')
  }

const drip = (to: Socket | ServerResponse, everyMs: number, text: string) => {
  to.write(text)
  const timer = setInterval(() => to.write(text), everyMs)
  to.on('close', () => clearInterval(timer))
}

/** A body of so many bytes, or of as many as the client takes; a given length is sent as a header. */
export const flood =
  (status = 200, bytes?: number): Reply =>
  ({ response }) => {
    response.writeHead(status, bytes === undefined ? {} : { 'content-length': bytes })
    let left = bytes ?? Infinity
    const more = () => {
      while (left > 0 && !response.destroyed) {
        const piece = CHUNK.subarray(0, Math.min(CHUNK.length, left))
        left -= piece.length
        if (!response.write(piece)) return
      }
      response.end()
    }
    response.on('drain', more)
    more()
  }

const CHUNK = Buffer.alloc(65_536, 'x')

/** Ends the connection without a word. */
export const hangUp: Reply = ({ socket }) => void socket.end()

/** Breaks the connection with a reset, of TCP where there is no TLS. */
export const reset: Reply = ({ socket }) => breakOff(socket)

/** Breaks it when so much of a response was sent. */
export const resetAfter = (text: string): Reply => write(text, breakOff)

const breakOff = (socket: Socket) => {
  // A socket of TLS has no reset of its own.
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}
