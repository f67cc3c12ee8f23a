import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { json } from 'node:stream/consumers'

import { base64 } from '../pictures.ts'
import { makeLatch } from '../wait.ts'

/** End of a prediction; a picture unless it says more. */
export interface Outcome {
  status?: 'succeeded' | 'failed' | 'canceled'
  output?: unknown
  error?: string
  logs?: string
}

interface FakeCogOptions {
  /** Predictions at once. */
  concurrency?: number
  /** Members of Input. */
  properties?: Record<string, object>
  required?: string[]
  output?: object
}

interface Body {
  id?: string
  input: Record<string, unknown>
  webhook?: string
  webhook_events_filter?: string[]
}

interface Running extends Body {
  id: string
  state: Record<string, unknown>
  cancel(): void
}

export type FakeCog = Awaited<ReturnType<typeof startFakeCog>>

/** An engine that speaks the HTTP API of cog as 0.23.1 does, and fails in every way that a test asks for. */
export const startFakeCog = async ({
  concurrency = 1,
  properties = {
    image: { type: 'string', format: 'uri', 'x-order': 0 },
    scale: { type: 'number', minimum: 1, maximum: 8, default: 2, 'x-order': 1 },
  },
  required = ['image'],
  output = { type: 'string', format: 'uri' },
}: FakeCogOptions = {}) => {
  const picture = `data:image/png;base64,${await base64({ width: 32, height: 32 })}`
  const running = new Map<string, Running>()
  const sockets = new Set<Socket>()
  /** Begun predictions, and all requests, in their order. */
  const begun: Body[] = []
  const requests: { route: string; headers: IncomingMessage['headers'] }[] = []
  const held = { latch: makeLatch() }
  held.latch.open()
  const state = {
    /** Ends of the predictions that begin next, in turn. */
    outcomes: [] as Outcome[],
    /** Status of its health-check where it is another than its work says. */
    health: undefined as string | undefined,
    /** Status of the next responses to predictions, in turn. */
    statuses: [] as number[],
    losesResponses: false,
    losesWebhooks: false,
    document: {
      openapi: '3.0.2',
      info: { title: 'Cog', version: '0.1.0' },
      components: {
        schemas: { Input: { type: 'object', properties, required }, Output: output },
      },
    } as object,
    /** Files that it serves, by path. */
    files: {} as Record<string, Buffer>,
  }

  const notify = async (
    { webhook, webhook_events_filter: events }: Body,
    event: string,
    body: object,
  ) => {
    if (webhook === undefined || state.losesWebhooks || events?.includes(event) === false) return
    const headers = { 'content-type': 'application/json' }
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const response = await fetch(webhook, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      }).catch(() => undefined)
      if (event !== 'completed' || (response && response.status < 500)) return
      await new Promise((resolve) => setTimeout(resolve, 20 * 2 ** attempt))
    }
  }

  const run = async (
    given: Body & { id: string },
  ): Promise<Record<string, unknown> | undefined> => {
    begun.push(given)
    const outcome = state.outcomes.shift() ?? {}
    const cancelled = makeLatch()
    const prediction: Running = {
      ...given,
      state: { id: given.id, status: 'processing', logs: outcome.logs ?? '' },
      cancel: cancelled.open,
    }
    let isCancelled = false
    const cancelling = cancelled.opened.then(() => void (isCancelled = true))
    running.set(given.id, prediction)
    await notify(given, 'start', prediction.state)
    if (outcome.logs !== undefined) await notify(given, 'logs', prediction.state)
    await Promise.race([held.latch.opened, cancelling])
    // A process that was replaced has no effect any more.
    if (running.get(given.id) !== prediction) return undefined
    const { status = 'succeeded', error, output: made = picture } = outcome
    const ended = isCancelled
      ? { ...prediction.state, status: 'canceled' }
      : { ...prediction.state, status, ...(status === 'succeeded' ? { output: made } : { error }) }
    running.delete(given.id)
    await notify(given, 'completed', ended)
    return ended
  }

  const predict = async (
    request: IncomingMessage,
    id: string,
  ): Promise<[number, unknown] | undefined> => {
    const body = (await json(request)) as Body
    const status = state.statuses.shift()
    if (status !== undefined) return [status, { detail: [{ msg: `a secret of ${id}` }] }]
    const missing = required.filter((name) => !(name in body.input))
    if (missing.length > 0)
      return [422, { detail: missing.map((name) => ({ loc: ['body', 'input', name] })) }]
    const same = running.get(id)
    if (same) return [202, same.state]
    if (running.size >= concurrency) return [409, { detail: 'Already running a prediction' }]
    const ended = run({ ...body, id })
    if (request.headers.prefer === 'respond-async') return [202, { id, status: 'starting' }]
    const end = await ended
    return end && [200, end]
  }

  const route = async (request: IncomingMessage): Promise<[number, unknown] | undefined> => {
    const { method, url = '' } = request
    const [, id = '', cancel] = /^\/predictions\/([^/]+)(\/cancel)?$/.exec(url) ?? []
    if (url === '/health-check')
      return [200, { status: state.health ?? (running.size >= concurrency ? 'BUSY' : 'READY') }]
    if (url === '/openapi.json') return [200, state.document]
    if (method === 'PUT' && id !== '') return await predict(request, id)
    if (method === 'POST' && cancel !== undefined) {
      running.get(id)?.cancel()
      return [running.has(id) ? 200 : 404, {}]
    }
    return [404, {}]
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push({ route: `${request.method} ${request.url}`, headers: request.headers })
    const file = state.files[request.url ?? '']
    if (file) return void response.end(file)
    const reply = await route(request)
    // A process that is gone, or a network that fails.
    if (!reply || (state.losesResponses && request.method === 'PUT')) {
      request.socket.destroy()
      return
    }
    const [status, body] = reply
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch(() => request.socket.destroy())
  }
  let server = createServer(listener)
  const start = async (port: number): Promise<void> => {
    server = createServer(listener).on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await start(0)
  const { port } = server.address() as AddressInfo
  /** Ends it as a kill does: what runs is gone. */
  const stop = async (): Promise<void> => {
    running.clear()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    begun,
    requests,
    running: () => [...running.keys()],
    /** Keeps predictions from ending. */
    hold: () => void (held.latch = makeLatch()),
    release: () => held.latch.open(),
    /** Loses what runs, as the process does that a supervisor starts again. */
    restart: async () => {
      await stop()
      await start(port)
    },
    stop,
    start: () => start(port),
    close: async () => {
      held.latch.open()
      await stop()
    },
  })
}
