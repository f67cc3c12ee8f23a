import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Duplex } from 'node:stream'

import { makeLatch } from '../wait.ts'
import { makeFolders } from './folders.ts'
import type { Folders } from './folders.ts'
import { isDropped, respond } from './routes.ts'
import type { Instance } from './routes.ts'
import { makeSockets } from './socket.ts'
import type { Graph } from './validate.ts'
import { makeWorker } from './worker.ts'
import type { PromptFault } from './worker.ts'

export interface FakeComfyOptions {
  /** 0.3.64 takes any id and has no routes of jobs; a newer one has them, and takes canonical UUIDs alone. */
  version?: string
  /** Files in `models/upscale_models`. */
  models?: readonly string[]
  /** Classes that are not installed. */
  without?: readonly string[]
  maxUploadBytes?: number
  /** `devices[0].vram_total`. */
  vramBytes?: number
  /** Options of its command line beside the address. */
  argv?: readonly string[]
  /** Duration of every node that is not cached. */
  nodeMs?: number
  /** Time between the kill of a process and the one that a supervisor starts instead. */
  restartMs?: number
  /** Its address on loopback, 127.0.0.1 when absent. */
  host?: string
  /** Any when absent. */
  port?: number
}

/**
 * Fault of a request: its connection breaks before it has an effect, or when it had it and the response is due; or it
 * gets this response instead.
 */
export type RequestFault = 'drop' | 'lose' | { status: number; body?: string }

/** A ComfyUI that renders small things for the classes of the example templates, and fails as a test asks. */
export interface FakeComfy {
  url: string
  folders: Folders
  /** Requests in their order: method and path with its query. */
  requests: string[]
  /** Ids of the prompts that were queued, in their order. */
  prompted: string[]
  /** Clients that have opened a socket, in their order. */
  clients: string[]
  /** Faults of the prompts that begin next, in turn. */
  faults: PromptFault[]
  /** Fault of every prompt with such a graph. */
  poison?: ((graph: Graph) => PromptFault | undefined) | undefined
  /** Decides about a request by its method and path; all pass while it is absent. */
  intercept?: ((request: string) => RequestFault | undefined) | undefined
  models: string[]
  without: string[]
  nodeMs: number
  /** True while sockets stay open and no event comes. */
  silent: boolean
  /** True while a prompt runs and has begun its first node. */
  isRunning(): boolean
  /** Forgets its sockets, which stay open, as when an older one of the same client ends. */
  deafen(): void
  /** Sends a preview, as a node does that samples. */
  preview(picture: Buffer): void
  /** Keeps the prompt that runs, or the next, running until `release`; an interrupt ends it. */
  hold(): void
  release(): void
  /** The process stands still: connections are accepted and nothing responds until `thaw`. */
  freeze(): void
  thaw(): void
  /** Ends the process as kill -9 does: the queue, the history, the cache and temporary files are gone, others stay. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  start(): Promise<void>
  /** Both, with a pause between for which connections are refused. */
  restart(pauseMs?: number): Promise<void>
  close(): Promise<void>
}

const DEFAULT_UPLOAD_BYTES = 104_857_600

export const startFakeComfy = async (options: FakeComfyOptions = {}): Promise<FakeComfy> => {
  const root = await mkdtemp(join(tmpdir(), 'kiln-comfyui-'))
  const folders = await makeFolders(root)
  const connections = new Set<Duplex>()
  const argv = ['main.py', '--cpu', ...(options.argv ?? [])]
  let server: Server | undefined
  let instance: Instance | undefined
  let held: ReturnType<typeof makeLatch> | undefined
  let frozen: ReturnType<typeof makeLatch> | undefined
  const { host = '127.0.0.1' } = options
  let port = options.port ?? 0

  const thawed = async (): Promise<void> => {
    if (!frozen) return
    await frozen.opened
    await thawed()
  }
  const fake: Omit<FakeComfy, 'url'> = {
    folders,
    requests: [],
    prompted: [],
    clients: [],
    faults: [],
    models: [...(options.models ?? ['kiln-tiny-x2.safetensors'])],
    without: [...(options.without ?? [])],
    nodeMs: options.nodeMs ?? 0,
    silent: false,
    isRunning: () => instance?.worker.isRunning() ?? false,
    deafen: () => instance?.sockets.forget(),
    preview: (picture) => instance?.sockets.preview(picture),
    hold: () => void (held ??= makeLatch()),
    release() {
      held?.open()
      held = undefined
    },
    freeze: () => void (frozen ??= makeLatch()),
    thaw() {
      frozen?.open()
      frozen = undefined
    },
    async kill() {
      instance?.worker.end()
      instance = undefined
      const old = server
      server = undefined
      fake.thaw()
      if (!old) return
      const closed = once(old, 'close')
      old.close()
      for (const connection of connections) connection.destroy()
      await closed
    },
    async start() {
      if (server) return
      await folders.clearTemp()
      instance = makeInstance()
      server = createServer(take)
      server.on('connection', (socket: Socket) => {
        connections.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => connections.delete(socket))
      })
      server.on('upgrade', (request, socket) => void upgrade(request, socket))
      server.listen(port, host)
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
    },
    async restart(pauseMs = options.restartMs ?? 0) {
      await fake.kill()
      await sleep(pauseMs)
      await fake.start()
    },
    async close() {
      fake.release()
      await fake.kill()
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  const makeInstance = (): Instance => {
    const sockets = makeSockets(() => fake.silent || frozen !== undefined)
    const worker = makeWorker({
      folders,
      sockets,
      faults: fake.faults,
      poisonOf: (graph) => fake.poison?.(graph),
      nodeMs: () => fake.nodeMs,
      held: () => held?.opened,
      thawed,
      withMetadata: !argv.includes('--disable-metadata'),
      cacheLru: Number(argv[argv.indexOf('--cache-lru') + 1]) || 0,
      kill: () => void fake.restart(),
    })
    return {
      worker,
      sockets,
      folders,
      settings: {
        version: options.version ?? '0.3.64',
        maxUploadBytes: options.maxUploadBytes ?? DEFAULT_UPLOAD_BYTES,
        vramBytes: options.vramBytes ?? 8 * 2 ** 30,
        argv,
      },
      models: () => fake.models,
      without: () => fake.without,
      number: 0,
      onPrompt: (id) => fake.prompted.push(id),
    }
  }

  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const serve = async (): Promise<void> => {
      await thawed()
      const asked = `${request.method} ${request.url}`
      fake.requests.push(asked)
      const fault = fake.intercept?.(asked)
      if (fault === 'drop') return void request.socket.destroy()
      if (typeof fault === 'object') return void response.writeHead(fault.status).end(fault.body)
      if (instance) await respond(request, response, { instance, lose: fault === 'lose', thawed })
    }
    serve().catch((error: unknown) => {
      if (!isDropped(error)) throw error
      response.destroy()
    })
  }

  const upgrade = async (request: IncomingMessage, socket: Duplex): Promise<void> => {
    await thawed()
    if (!instance) return void socket.destroy()
    const { sockets, worker } = instance
    const client = sockets.accept(request, socket)
    fake.clients.push(client)
    const status = { exec_info: { queue_remaining: worker.remaining() } }
    sockets.send('status', { status, sid: client }, client)
    const node = worker.current(client)
    if (node !== undefined) sockets.send('executing', { node }, client)
  }

  await fake.start()
  return Object.assign(fake, { url: `http://${host}:${port}` })
}
