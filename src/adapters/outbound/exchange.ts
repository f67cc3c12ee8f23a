import { Agent, request, type Dispatcher } from 'undici'
import { makeConnector, type ConnectorOptions } from './connector.ts'
import { OutboundFault } from './fault.ts'

export interface ExchangeOptions extends Omit<ConnectorOptions, 'signal'> {
  /** For everything together: look-ups, connections, redirects, body. */
  timeoutMs: number
  /** Of one answer's body. */
  maxBytes: number
  /** Each ends the exchange; it then fails with the reason of the signal. */
  signals: readonly AbortSignal[]
}

export interface SendOptions {
  method: 'GET'
  headers: Record<string, string>
}

/** The means of one download or one delivery attempt. */
export interface Exchange {
  /** Sends a request with the signal; the answer's body is read by the caller or dropped by `end`. */
  send: (url: URL, options: SendOptions) => Promise<Dispatcher.ResponseData>
  /** Aborted when the time is over (reason: OutboundFault `timeout`) or one of `signals` was. */
  signal: AbortSignal
  /** Closes every connection and stops the clock. */
  end: () => Promise<void>
}

/**
 * An agent for each exchange, not one for all: undici forgets a request that is aborted while connecting but leaves the
 * connection to go on, so the connector has to know the signal of its request. Nothing is kept alive between exchanges;
 * callers' hosts are rarely met twice in seconds.
 */
export const startExchange = (options: ExchangeOptions): Exchange => {
  const { isAllowed, network, timeoutMs, maxBytes, signals } = options
  const { signal, stop } = startDeadline(timeoutMs, signals)
  const agent = new Agent({
    connect: makeConnector({ isAllowed, network, signal }),
    allowH2: false,
    pipelining: 0,
    maxHeaderSize: 16_384,
    maxResponseSize: maxBytes,
    // The deadline of the exchange rules; a limit on gaps never ends a drip.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  // A body that may be buffered whole is never paused. undici 7 ends the process by an assertion when a server closes
  // the connection while the body is paused (nodejs/undici#5360, mended in 8), and every server can.
  const highWaterMark = maxBytes + 1
  const send = (url: URL, what: SendOptions) =>
    request(url, { ...what, dispatcher: agent, signal, highWaterMark })
  const end = async () => {
    stop()
    await agent.destroy()
  }
  return { send, signal, end }
}

const startDeadline = (timeoutMs: number, signals: readonly AbortSignal[]) => {
  const controller = new AbortController()
  const expire = () => controller.abort(new OutboundFault('timeout', timeoutMessage(timeoutMs)))
  const timer = setTimeout(expire, timeoutMs)
  const removals = signals.map((signal) => forwardAbort(signal, controller))
  const stop = () => {
    clearTimeout(timer)
    for (const remove of removals) remove()
  }
  return { signal: controller.signal, stop }
}

const timeoutMessage = (timeoutMs: number) =>
  `no complete answer within ${timeoutMs / 1_000} seconds`

/** AbortSignal.any would keep each exchange's signal for as long as a signal that outlives it. */
const forwardAbort = (from: AbortSignal, to: AbortController) => {
  const forward = () => to.abort(from.reason)
  if (from.aborted) forward()
  from.addEventListener('abort', forward)
  return () => from.removeEventListener('abort', forward)
}
