import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

import { makeConnector, openSystemSocket } from './connector.ts'
import { startDeadline } from './deadline.ts'
import { makeProxy, type ProxyRules } from './proxy.ts'
import { resolveBySystem } from './resolver.ts'
import { hostOf } from './url.ts'

/** For look-up, proxy, connection and TLS together. */
const CONNECT_MS = 5000

/**
 * Makes the connector to servers that an operator has named: they are called wherever they are, and through the proxy
 * where there is one. Every client of such a server opens its connections here.
 */
export const makeTrustedConnector = (rules?: ProxyRules): buildConnector.connector => {
  const proxy = rules && makeProxy(rules)
  const network = { resolve: resolveBySystem, openSocket: openSystemSocket, proxy }
  const deadline = { timeoutMs: CONNECT_MS, signals: [], what: 'connection' }
  return (target, callback) => {
    const { signal, stop } = startDeadline(deadline)
    makeConnector({ isAllowed: () => true, network, signal })(target, (...opened) => {
      stop()
      callback(...opened)
    })
  }
}

/** Opens a connection to the port of a URL that an operator has named. TLS is not begun. */
export const openTrustedSocket = (url: URL, rules?: ProxyRules): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const port = url.port || (url.protocol === 'https:' ? '443' : '80')
    makeTrustedConnector(rules)(
      { hostname: hostOf(url), port, protocol: 'http:' },
      (...[error, socket]) => (error ? reject(error) : resolve(socket)),
    )
  })

/** Makes the agents of a client that has Node's own for its connections. */
export const makeTrustedAgents = (
  rules: ProxyRules,
  options: { keepAlive: boolean; maxSockets: number },
): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } => {
  const connect = makeTrustedConnector(rules)
  const openFor =
    (protocol: string): HttpAgent['createConnection'] =>
    ({ host, port }, callback) => {
      connect({ hostname: host ?? '', port: String(port ?? ''), protocol }, (...[error, socket]) =>
        error ? callback?.(error, undefined as never) : callback?.(null, socket),
      )
      return undefined
    }
  return {
    httpAgent: Object.assign(new HttpAgent(options), { createConnection: openFor('http:') }),
    httpsAgent: Object.assign(new HttpsAgent(options), { createConnection: openFor('https:') }),
  }
}
