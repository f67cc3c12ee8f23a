import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { request, type Dispatcher } from 'undici'
import { boundBytes } from './incoming.ts'
import { makeConnector, type ConnectorOptions } from './connector.ts'
import { OutboundFault } from './fault.ts'
import { openLine, type Line, type Lines } from './lines.ts'

export interface ExchangeOptions extends Omit<ConnectorOptions, 'signal'> {
  /** For everything together: look-ups, connections, redirects, body. */
  timeoutMs: number
  /** How much of the time, and of that for a connection, is over already. */
  spentMs?: number | undefined
  /** For the parts of each request, in milliseconds. A download has none. */
  parts?: { connectMs: number; headersMs: number }
  /** Most bytes of one answer's body. */
  maxBytes: number
  /** Each ends the exchange; it then fails with the reason of the signal. */
  signals: readonly AbortSignal[]
  /** Connections of earlier exchanges, which this one may use, and to which it gives its own. Without, it opens one. */
  lines?: Lines | undefined
}

export type SendOptions =
  | { method: 'GET'; headers: Record<string, string>; body?: never }
  /** The bytes are sent as they are, with their length, which the headers of a stream give. */
  | { method: 'POST'; headers: Record<string, string>; body: Uint8Array | Readable }

/** For heads and for what stands between the pieces of a body. */
const HEAD_ROOM = 2 ** 20

/** How this service names itself to every host. */
export const USER_AGENT = 'Kiln'

/** The connections and the clock of one download or one delivery attempt. */
export interface Exchange {
  /** Sends a request with the signal; the answer's body is read by the caller or dropped by `end`. */
  send: (url: URL, options: SendOptions) => Promise<Dispatcher.ResponseData>
  /** Aborted when the time is over (reason: OutboundFault `timeout`) or one of `signals` was. */
  signal: AbortSignal
  /** Whether the connection is one of an earlier exchange. */
  isReused: () => boolean
  /** Stops the clock, and closes the connection or, after an answer that was read to its end, keeps it. */
  end: (after?: { clean: boolean }) => Promise<void>
}

/**
 * An agent for each exchange, not one for all: undici forgets a request that is aborted while connecting but leaves the
 * connection to go on, so the connector has to know the signal of its request.
 */
export const startExchange = (options: ExchangeOptions): Exchange => {
  const { isAllowed, network, addresses, watch, maxBytes, lines } = options
  const { signal, limit, stop } = startDeadline({ ...options, what: 'complete answer' })
  const stages = makeStages(limit, options)
  let line: Line | undefined
  let key = ''
  let isReused = false
  const onReady = (socket: Socket) => {
    if (line) line.socket = socket
    boundBytes(socket, 2 * maxBytes + HEAD_ROOM)
    stages.connected()
    watch?.onReady(socket)
  }
  const connect = makeConnector({
    isAllowed,
    network,
    addresses,
    signal,
    watch: { ...watch, onReady },
  })
  const open = () =>
    openLine({
      allowH2: false,
      // 0: the connection ends with its answer.
      pipelining: lines ? 1 : 0,
      maxHeaderSize: 16_384,
      maxResponseSize: maxBytes,
      // The exchange's own deadlines rule; a limit on gaps never ends a drip.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  // A body that may be buffered whole is never paused. undici 7 ends the process by an assertion when a server closes
  // the connection while the body is paused (nodejs/undici#5360, mended in 8), and every server can.
  const highWaterMark = maxBytes + 1
  const send = (url: URL, what: SendOptions) => {
    stages.begun()
    key = `${url.origin} ${maxBytes}`
    const kept = lines?.take(key, addresses)
    isReused = kept !== undefined
    line = kept ?? line ?? open()
    line.connect = connect
    if (kept?.socket) {
      watch?.onDial?.(kept.socket.remoteAddress ?? '')
      onReady(kept.socket)
    }
    const sending = request(url, { ...what, dispatcher: line.agent, signal, highWaterMark })
    return sending.finally(stages.answered)
  }
  const end = async (after?: { clean: boolean }) => {
    stop()
    if (!line) return
    if (after?.clean && lines) await lines.keep(key, line)
    else await line.agent.destroy()
  }
  return { send, signal, isReused: () => isReused, end }
}

type Limit = (ms: number, what: string, spentMs?: number) => () => void

/** The deadlines of a request's parts: each is lifted when the part is over. */
const makeStages = (limit: Limit, { parts, spentMs }: ExchangeOptions) => {
  let lift: (() => void) | undefined
  const enter = (ms: number | undefined, what: string, spentMs?: number) => {
    lift?.()
    lift = ms === undefined ? undefined : limit(ms, what, spentMs)
  }
  return {
    begun: () => enter(parts?.connectMs, 'connection', spentMs),
    connected: () => enter(parts?.headersMs, 'answer'),
    answered: () => enter(undefined, 'body'),
  }
}

type Deadline = Pick<ExchangeOptions, 'timeoutMs' | 'spentMs' | 'signals'> & {
  /** What is waited for, for the message: `no connection within 5 seconds`. */
  what: string
}

/** Starts a clock: its signal is aborted when the time is over, or with one of `signals`. */
export const startDeadline = ({ timeoutMs, spentMs, signals, what }: Deadline) => {
  const controller = new AbortController()
  // A socket for each redirect listens, and its request.
  setMaxListeners(0, controller.signal)
  const timers = new Set<NodeJS.Timeout>()
  const limit: Limit = (ms, what, spentMs = 0) => {
    const end = (): void =>
      controller.abort(new OutboundFault('timeout', `no ${what} within ${ms / 1_000} seconds`))
    const timer = setTimeout(end, ms - spentMs)
    timers.add(timer)
    return () => clearTimeout(timer)
  }
  limit(timeoutMs, what, spentMs)
  const removals = signals.map((signal) => forwardAbort(signal, controller))
  const stop = () => {
    for (const timer of timers) clearTimeout(timer)
    for (const remove of removals) remove()
  }
  return { signal: controller.signal, limit, stop }
}

/** AbortSignal.any would keep each exchange's signal for as long as a signal that outlives it. */
const forwardAbort = (from: AbortSignal, to: AbortController) => {
  const forward = () => to.abort(from.reason)
  if (from.aborted) forward()
  from.addEventListener('abort', forward)
  return () => from.removeEventListener('abort', forward)
}
