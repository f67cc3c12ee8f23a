import { createServer, request as send } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { listen } from '../support/network.ts'

export type Balancer = Awaited<ReturnType<typeof startBalancer>>

const POLL_MS = 200

/** Starts the load balancer of two apis: it sends requests in turn to those whose /ready says so, and repeats none. */
export const startBalancer = async () => {
  /** Ports of the apis that it looks at. */
  const ports = new Set<number>()
  let ready: number[] = []
  let turn = 0
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    const { method, url: path, headers } = request
    const port = ready[(turn += 1) % ready.length]
    const sending = send({ host: '127.0.0.1', port, method, path, headers }, (result) => {
      response.writeHead(result.statusCode ?? 502, result.headers)
      result.pipe(response)
    })
    sending.on('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end('{"error":"balancer"}')
    })
    request.pipe(sending)
  }
  const isUp = async (port: number): Promise<boolean> =>
    await fetch(`http://127.0.0.1:${port}/ready`).then(
      (result) => result.ok,
      () => false,
    )
  const stopping = new AbortController()
  const check = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const all = [...ports]
      const up = await Promise.all(all.map(isUp))
      // Where none is, they keep their requests: the check of a database that is busy takes too long on all at once.
      if (up.includes(true)) ready = all.filter((_, index) => up[index])
      await sleep(POLL_MS)
    }
  }
  // Else it closes a connection just as a caller takes it again.
  const server = Object.assign(createServer(forward), { keepAliveTimeout: 60_000 })
  const { port, close } = await listen(server)
  const surveying = check()
  return {
    url: `http://127.0.0.1:${port}`,
    ports,
    isReady: (port: number): boolean => ready.includes(port),
    async stop() {
      stopping.abort()
      await surveying
      await close()
    },
  }
}
