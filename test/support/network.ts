import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Dial } from '../../src/platform/outbound/connector.ts'
import type { Certificate } from './certificate.ts'
import { use } from './use.ts'

/** A server on a free port of 127.0.0.1. */
export interface Receiver {
  port: number
  connections: () => number
  open: () => number
  close: () => Promise<void>
}

/** Serves HTTP, or HTTPS with a certificate. */
export const startReceiver = (response: RequestListener, certificate?: Certificate) =>
  listen(certificate ? createTlsServer({ ...certificate }, response) : createServer(response))

/** Starts a receiver before the first test of a file or a suite and closes it after the last. */
export const useReceiver = (response: RequestListener, certificate?: Certificate): Receiver =>
  use(
    () => startReceiver(response, certificate),
    ({ close }) => close(),
  )

/** Makes any server a receiver that closes at once, whatever is still connected. */
export const listen = async (server: Server): Promise<Receiver> => {
  const { offered, open, destroy } = watchSockets(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    destroy()
    server.close()
    await once(server, 'close')
  }
  const { port } = server.address() as AddressInfo
  return { port, connections: offered, open, close }
}

export const watchSockets = (server: Server) => {
  const sockets = new Set<Socket>()
  let offered = 0
  // Under TLS this is the connection below it, which is there also when the handshake fails.
  server.on('connection', (socket) => {
    offered += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('tlsClientError', () => {})
  return {
    offered: () => offered,
    open: () => sockets.size,
    destroy: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * A network in which every address is the one receiver, so that the guard can be watched with its rules whole. `responses`
 * holds for each name the results of its look-ups in turn, the last of them for good; other names do not exist.
 */
export const makeTestNetwork = (
  port: number,
  ca: string,
  responses: Record<string, readonly (readonly string[])[]>,
) => {
  const lookups: string[] = []
  const dialled: Dial[] = []
  const resolve = async (host: string) => {
    const earlier = lookups.filter((name) => name === host).length
    lookups.push(host)
    const found = responses[host]?.[earlier] ?? responses[host]?.at(-1)
    if (found === undefined) throw new Error(`no addresses for ${host}`)
    return found
  }
  const openSocket = (dial: Dial) => {
    dialled.push(dial)
    const socket = connect({ host: '127.0.0.1', port, signal: dial.signal })
    const peer = { value: dial.addresses[0], configurable: true }
    return Object.defineProperty(socket, 'remoteAddress', peer)
  }
  return { resolve, openSocket, ca, lookups, dialled }
}
