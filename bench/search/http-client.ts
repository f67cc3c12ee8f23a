import { once } from 'node:events'
import { createConnection } from 'node:net'
import type { Socket } from 'node:net'

import type { Shape } from './shapes.ts'

export interface HttpRequest {
  method?: 'GET' | 'POST'
  /** With its query. */
  path: string
  headers?: Record<string, string>
  body?: string
}

export interface Lane {
  /** Does the request of a place, counted round and round. False when the service had no time for it (503). */
  call(at: number): Promise<boolean>
  close(): void
}

/** The bytes of a request, made before anything is timed. */
const encodeRequest = (
  baseUrl: string,
  { method = 'GET', path, headers = {}, body = '' }: HttpRequest,
): Buffer => {
  const all = {
    host: new URL(baseUrl).host,
    ...headers,
    ...(body && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'))
}

/**
 * One kept connection with one request at a time. It does no more than find the end of each response: what a full client
 * costs would be added to the service, on a machine where both share the cores.
 */
export const openLane = async (
  baseUrl: string,
  { requests }: Pick<Shape, 'requests'>,
): Promise<Lane> => {
  const { hostname, port } = new URL(baseUrl)
  const open = async () => {
    const socket = createConnection({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    return { socket, send: makeSend(socket) }
  }
  let lane = await open()
  const encoded = requests.map((request) => encodeRequest(baseUrl, request))
  return {
    call: async (at) => {
      // On a busy machine the turn of the other side may take longer than the service waits for a request.
      if (lane.socket.destroyed) lane = await open()
      const responded = await lane.send(encoded[at % encoded.length] as Buffer)
      if (responded !== 200 && responded !== 503)
        throw new Error(`${requests[at % requests.length]?.path} responded with ${responded}`)
      return responded === 200
    },
    close: () => lane.socket.destroy(),
  }
}

interface Waiting {
  resolve(status: number): void
  reject(error: Error): void
}

/** Makes a function that returns the status; the body is read to its end and dropped. */
const makeSend = (socket: Socket): ((request: Buffer) => Promise<number>) => {
  let waiting: Waiting | undefined
  let head: Buffer = Buffer.alloc(0)
  let status = 0
  /** Bytes of the body that are still to come; undefined within the head. */
  let left: number | undefined
  const read = (chunk: Buffer): void => {
    if (left === undefined) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const text = head.toString('latin1', 0, end)
      status = Number(text.slice(9, 12))
      left = bodyLength(text) - (head.length - end - 4)
      head = Buffer.alloc(0)
    } else left -= chunk.length
    if (left > 0) return
    left = undefined
    const done = waiting
    waiting = undefined
    done?.resolve(status)
  }
  const fail = (error?: Error): void => waiting?.reject(error ?? new Error('the connection ended'))
  socket
    .on('data', read)
    .on('error', fail)
    .on('close', () => fail())
  return (request) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject }
      if (socket.destroyed) fail()
      else socket.write(request)
    })
}

const bodyLength = (head: string): number => {
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`a response without a length: ${head}`)
  return Number(length)
}
