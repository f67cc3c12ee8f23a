import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { listen } from './network.ts'

/**
 * Fault of a request: it gets 503 without being done, it gets no response, it is done and its response is lost, or its
 * response breaks off after so many bytes.
 */
export type S3Fault = 'busy' | 'silent' | 'lost' | number

export interface S3Proxy {
  endpoint: string
  /** Requests that came: method, path, query and range. */
  requests: string[]
  /** Decides about a request; all pass while it is absent. */
  issue?: ((asked: string) => S3Fault | undefined) | undefined
  /** Number of requests without an end yet. */
  underway: number
  close(): Promise<void>
}

const BUSY =
  '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'

/** Starts a proxy between a store and its server, which breaks requests as a test asks. */
export const startS3Proxy = async (target: string): Promise<S3Proxy> => {
  const proxy: Omit<S3Proxy, 'endpoint' | 'close'> = { requests: [], underway: 0 }
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming
    const asked = [method, url, headers.range].filter(Boolean).join(' ')
    proxy.requests.push(asked)
    const fault = proxy.issue?.(asked)
    proxy.underway += 1
    response.on('close', () => (proxy.underway -= 1))
    incoming.on('error', () => {})
    if (fault !== 'busy' && fault !== 'silent') return pass(target, { incoming, response, fault })
    incoming.resume()
    if (fault === 'busy') response.writeHead(503, { 'content-type': 'application/xml' }).end(BUSY)
  })
  const { port, close } = await listen(server)
  return Object.assign(proxy, { endpoint: `http://127.0.0.1:${port}`, close })
}

interface Passing {
  incoming: IncomingMessage
  response: ServerResponse
  fault: 'lost' | number | undefined
}

/** The server looks at the host that was signed, so that stays. */
const pass = (target: string, { incoming, response, fault }: Passing): void => {
  const { method, url = '', headers } = incoming
  const onward = request(new URL(url, target), { method, headers }, (result) => {
    if (fault === 'lost') {
      result.resume()
      response.destroy()
      return
    }
    response.writeHead(result.statusCode ?? 502, result.headers)
    let left = fault ?? Number.POSITIVE_INFINITY
    result.on('data', (chunk: Buffer) => {
      response.write(chunk.subarray(0, Math.max(left, 0)))
      left -= chunk.length
      // What was written first has to arrive.
      if (left <= 0) setImmediate(() => response.destroy())
    })
    result.on('end', () => left > 0 && response.end())
    result.on('error', () => response.destroy())
    response.on('close', () => result.destroy())
  })
  onward.on('error', () => response.destroy())
  incoming.pipe(onward)
}
