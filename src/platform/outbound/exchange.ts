import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { request, type Agent, type Dispatcher } from 'undici'
import { findPeer, makeConnector, type ConnectorOptions } from './connector.ts'
import { startDeadline, type DeadlineOptions } from './deadline.ts'
import { OutboundError } from './error.ts'
import { boundBytes } from './incoming.ts'
import { makePool, type Borrower } from './pool.ts'

export interface ExchangeOptions
  extends Omit<ConnectorOptions, 'signal'>, Omit<DeadlineOptions, 'what'> {
  /** For the stages of each request, in milliseconds. A download has none. */
  stages?: { connectMs: number; headersMs: number }
  /** Most bytes of one response's body. */
  maxBytes: number
  /** Connections of earlier exchanges. Without, the exchange opens its own and keeps none. */
  pool?: Agent | undefined
  /** Opens a connection although one was kept. */
  isFresh?: boolean
}

export type SendOptions =
  | { method: 'GET'; headers: Record<string, string>; body?: never }
  /** The bytes are sent as they are, with their length, which the headers of a stream give. */
  | { method: 'POST' | 'PUT'; headers: Record<string, string>; body: Uint8Array | Readable }

/** For heads and for what stands between the pieces of a body. */
const HEAD_ROOM = 2 ** 20

export type Response = Dispatcher.ResponseData<unknown>

/** Name of this service to every host. */
export const USER_AGENT = 'Kiln'

/** The connections and the clock of one download or one delivery attempt. */
export interface Exchange {
  /** Sends a request with the signal; the response's body is read by the caller or dropped by `end`. */
  send: (url: URL, options: SendOptions) => Promise<Response>
  /** Aborted when the time is over (reason: OutboundError `timeout`) or one of `signals` was. */
  signal: AbortSignal
  /** True when the connection is one of an earlier exchange. */
  isReused: () => boolean
  /** Stops the clock. The connection is closed unless the pool keeps it, after a response that was read to its end. */
  end: () => Promise<void>
}

/** Starts an exchange. One without a pool has an agent of its own, which bounds the bodies of its responses. */
export const startExchange = (options: ExchangeOptions): Exchange => {
  const { addresses, watch, maxBytes, stages, pool, isFresh = false } = options
  const { signal, enter, rename, stop } = startDeadline({ ...options, what: 'complete response' })
  const agent = pool ?? makePool({ maxResponseSize: maxBytes })
  // A body is never paused: all that may come fits. undici 7 ends the process by an assertion when a server closes the
  // connection while the body is paused (nodejs/undici#5360, mended in 8), and every server can.
  const highWaterMark = 2 * maxBytes + HEAD_ROOM
  const onConnected = () => rename('TLS handshake')
  let isReused = false
  let isOver = false
  let body: Response['body'] | undefined
  const onReady = (socket: Socket) => {
    boundBytes(socket, highWaterMark)
    enter('response', stages?.headersMs)
    watch?.onReady(socket)
  }
  const borrower: Borrower = {
    connect(target, callback) {
      // undici connects again for a request that was aborted within its response.
      if (isOver) return callback(new OutboundError('reset'), null)
      isReused = false
      enter('connection', stages?.connectMs, options.spentMs)
      makeConnector({ ...options, signal, watch: { ...watch, onConnected, onReady } })(
        target,
        callback,
      )
    },
    /** One whose peer is among the addresses that the host was found to have now. */
    reuse(socket) {
      const peer = findPeer(socket)
      isReused = !isFresh && addresses?.includes(peer) === true
      if (!isReused) return false
      watch?.onDial?.(peer)
      onReady(socket)
      return true
    },
  }
  return {
    async send(url, what) {
      const sent = { ...what, dispatcher: agent, opaque: borrower, reset: !pool }
      const response = await request(url, { ...sent, signal, highWaterMark }).finally(() =>
        enter('body', undefined),
      )
      body = response.body
      return response
    },
    signal,
    isReused: () => isReused,
    async end() {
      isOver = true
      stop()
      if (!pool) await agent.destroy()
      // undici gives a connection back to its pool a turn of the event loop after the end of the response.
      else if (body?.readableEnded) await setImmediate()
      else body?.destroy()
    },
  }
}
