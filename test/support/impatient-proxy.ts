import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { listen } from './network.ts'

/** Fault of a proxy on what is long in coming: it cuts the connection, keeps a stream back, or responds with 504. */
export type Impatience = 'cuts' | 'buffers' | 'gives up'

/** Way in which a read waits for a change. */
type Way = 'stream' | 'waiting' | 'plain'

export interface ImpatientProxy {
  baseUrl: string
  /** Way of each read of a task, in their order. */
  ways: Way[]
  /** Number of creations that came. */
  creations: number
  close(): Promise<void>
}

/** Starts a proxy before a service. The response to the first request with an idempotency key is lost, too, but for one that buffers. */
export const startImpatientProxy = async (
  target: string,
  impatience: Impatience,
): Promise<ImpatientProxy> => {
  const proxy: Omit<ImpatientProxy, 'baseUrl' | 'close'> = { ways: [], creations: 0 }
  const keys = new Set<unknown>()
  const isLost = ({ method, headers: { 'idempotency-key': key } }: IncomingMessage): boolean => {
    if (method !== 'POST') return false
    proxy.creations += 1
    const isFirst = !keys.has(key)
    keys.add(key)
    return isFirst && impatience !== 'buffers'
  }
  const fail = (response: ServerResponse): void => {
    if (impatience === 'cuts') response.destroy()
    else response.writeHead(504, { 'content-type': 'text/html' }).end('<html>504</html>')
  }
  const server = createServer((incoming, response) => {
    incoming.on('error', () => {})
    const way = wayOf(incoming)
    if (incoming.method === 'GET') proxy.ways.push(way)
    if (way === 'stream' && impatience === 'buffers') return
    if (way === 'plain' || impatience === 'buffers')
      return pass(target, incoming, response, isLost(incoming) ? fail : undefined)
    incoming.resume()
    fail(response)
  })
  const { port, close } = await listen(server)
  return Object.assign(proxy, { baseUrl: `http://127.0.0.1:${port}`, close })
}

const wayOf = ({ headers: { accept, prefer } }: IncomingMessage): Way => {
  if (accept === 'text/event-stream') return 'stream'
  return String(prefer).includes('wait=') ? 'waiting' : 'plain'
}

const pass = (
  target: string,
  incoming: IncomingMessage,
  response: ServerResponse,
  fail: ((response: ServerResponse) => void) | undefined,
): void => {
  const { method, url = '', headers } = incoming
  const onward = request(new URL(url, target), { method, headers }, (result) => {
    result.on('error', () => response.destroy())
    if (fail) return result.resume().on('end', () => fail(response))
    return result.pipe(response.writeHead(result.statusCode ?? 502, result.headers))
  })
  onward.on('error', () => response.destroy())
  incoming.pipe(onward)
}
