import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Socket } from 'node:net'

import type { Certificate } from './certificate.ts'
import { listen, type Receiver } from './network.ts'
import { use } from './use.ts'

/** A forward proxy on 127.0.0.1 that takes CONNECT alone, and leads every host to the one port. */
export interface ForwardProxy extends Receiver {
  /** Hosts that it was asked to connect to, as host:port. */
  asked: string[]
  /** `Proxy-Authorization` of each. */
  authorizations: (string | undefined)[]
  /** Status that each host gets from now on; 200 connects. */
  script: (statusOf: (authority: string) => number) => void
}

export const startForwardProxy = async (
  port: () => number,
  certificate?: Certificate,
): Promise<ForwardProxy> => {
  const asked: string[] = []
  const authorizations: (string | undefined)[] = []
  let statusOf = (_authority: string): number => 200
  const server = certificate ? createTlsServer({ ...certificate }) : createServer()
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket) => {
    asked.push(url)
    authorizations.push(headers['proxy-authorization'])
    const status = statusOf(url)
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const there = connect(port(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      there.pipe(socket).pipe(there)
    })
    socket.on('error', () => there.destroy()).on('close', () => there.destroy())
    there.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    return undefined
  })
  const script: ForwardProxy['script'] = (given) => {
    statusOf = given
  }
  return { ...(await listen(server)), asked, authorizations, script }
}

/** Starts one before the first test of a file or a suite and closes it after the last. */
export const useForwardProxy = (port: () => number, certificate?: Certificate): ForwardProxy =>
  use(
    () => startForwardProxy(port, certificate),
    ({ close }) => close(),
  )
