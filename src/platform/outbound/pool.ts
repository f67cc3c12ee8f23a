import type { Socket } from 'node:net'
import { Agent, Client, Pool, type buildConnector, type Dispatcher } from 'undici'

/** The exchange behind a request: it opens the connection, or reuses one that was kept. */
export interface Borrower {
  connect: buildConnector.connector
  /** Called before the request goes on a kept connection; false closes that one, and another is opened. */
  reuse: (socket: Socket) => boolean
}

/** Connections that are kept beside those under way; the next ones end with their response. */
const MAX_OPEN = 256
/** Many servers close after five seconds. What a server asks for in `Keep-Alive` makes it no longer. */
const KEEP_MS = 4_000

/**
 * Makes a pool of keep-alive connections. Each request names its Borrower as `opaque`: undici does not say to a
 * connector which request it connects for, or when that one is aborted; nor to a request which connection it has.
 */
export const makePool = (options: Agent.Options = {}): Agent => {
  let open = 0
  const openClient = (origin: URL, settings: object): Dispatcher => {
    let borrower: Borrower | undefined
    let socket: Socket | null = null
    const client = new Client(origin, {
      ...settings,
      connect: (target, callback) =>
        borrower?.connect(target, (...opened) => {
          socket = opened[1]
          callback(...opened)
        }),
    })
    const dispatch = client.dispatch.bind(client)
    client.dispatch = (request: Dispatcher.RequestOptions<Borrower>, handler) => {
      borrower = request.opaque
      if (socket?.destroyed === false && borrower?.reuse(socket) === false) socket.destroy()
      return dispatch({ ...request, reset: request.reset || open >= MAX_OPEN }, handler)
    }
    return client
  }
  const agent = new Agent({
    allowH2: false,
    keepAliveTimeout: KEEP_MS,
    keepAliveMaxTimeout: KEEP_MS,
    maxHeaderSize: 16_384,
    // The deadlines of the exchange apply; undici's are for gaps, and a drip has none.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...options,
    factory: (origin, settings) => new Pool(origin, { ...settings, factory: openClient }),
  })
  agent.on('connect', () => (open += 1)).on('disconnect', () => (open -= 1))
  return agent
}
