import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { describeClass, isPresent, makeClasses } from './classes.ts'
import type { NodeClasses } from './classes.ts'
import type { Folders } from './folders.ts'
import { describeJob, listJobs } from './jobs.ts'
import type { Sockets } from './socket.ts'
import { validatePrompt } from './validate.ts'
import { sendFile } from './view.ts'
import type { Worker } from './worker.ts'

/** One process of ComfyUI: what is gone with it, and what it was started with. */
export interface Instance {
  worker: Worker
  sockets: Sockets
  folders: Folders
  settings: { version: string; maxUploadBytes: number; vramBytes: number; argv: readonly string[] }
  models: () => readonly string[]
  without: () => readonly string[]
  /** Number of the next prompt. */
  number: number
  onPrompt(id: string): void
}

interface Context {
  instance: Instance
  /** The response is lost: the connection ends where it was due. */
  lose: boolean
  thawed: () => Promise<void>
}

/** Response of a route: JSON, a status alone, a text, or a file. */
type Reply =
  | { json: unknown; status?: number }
  | { status: number; text?: string }
  | { file: string }

interface Asked {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: Buffer
}

class Dropped extends Error {}

/** True for what ends a request whose client has gone away. */
export const isDropped = (error: unknown): boolean =>
  error instanceof Dropped ||
  (error instanceof Error &&
    'code' in error &&
    ['ECONNRESET', 'EPIPE'].includes(String(error.code)))

const OK: Reply = { status: 200 }
const SERVER_ERROR: Reply = {
  status: 500,
  text: '500 Internal Server Error\n\nServer got itself in trouble',
}

/** Responds to a request as ComfyUI does. */
export const respond = async (
  request: IncomingMessage,
  response: ServerResponse,
  { instance, lose, thawed }: Context,
): Promise<void> => {
  const body = await readBody(request, instance.settings.maxUploadBytes)
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
  const asked = {
    method: request.method ?? '',
    // Every route is there twice; those of jobs are only below `/api`.
    path: pathname.replace(/^\/api(?!\/jobs)/, ''),
    query,
    headers: request.headers,
    body: body ?? Buffer.alloc(0),
  }
  const reply = body === undefined ? tooLarge(instance) : await routeSafely(asked, instance)
  await thawed()
  if (lose) return void response.destroy()
  if ('file' in reply) return await sendFile(reply.file, request, response)
  const status = reply.status ?? 200
  if ('json' in reply)
    return void response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify(reply.json))
  const text = reply.text ?? (status === 200 ? '' : `${status}`)
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

const tooLarge = ({ settings }: Instance): Reply => ({
  status: 413,
  text: `Maximum request body size ${settings.maxUploadBytes} exceeded.`,
})

/** Undefined when the body is larger than the limit: it is read to its end, as the client still sends. */
const readBody = async (request: IncomingMessage, limit: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
  }
  return size > limit ? undefined : Buffer.concat(chunks)
}

/** Responds 500 where ComfyUI raises. */
const routeSafely = async (asked: Asked, instance: Instance): Promise<Reply> => {
  const { origin, host = '' } = asked.headers
  if (origin !== undefined && /^(localhost|127\.)/.test(host) && new URL(origin).host !== host)
    return { status: 403 }
  try {
    return await route(asked, instance)
  } catch {
    return SERVER_ERROR
  }
}

const route = async (asked: Asked, instance: Instance): Promise<Reply> => {
  const { method, path } = asked
  const exact = ROUTES[`${method} ${path}`]
  if (exact) return await exact(asked, instance)
  const [, folder, name, action] = /^\/((?:api\/)?\w+)\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? []
  const id = decodeURIComponent(name ?? '')
  if (method === 'GET' && folder === 'history') return { json: pickHistory(id, instance) }
  if (method === 'GET' && folder === 'object_info')
    return { json: await describeClasses(instance, [id]) }
  if (folder === 'api/jobs' && hasJobs(instance)) {
    const job = describeJob(id, instance.worker)
    if (method === 'POST' && action === 'cancel')
      return { json: { cancelled: instance.worker.remove(id) || instance.worker.interrupt(id) } }
    if (method === 'GET')
      return job ? { json: job } : { json: { error: 'Job not found' }, status: 404 }
  }
  if (path in METHODS) return { status: 405, text: '405: Method Not Allowed' }
  return { status: 404, text: '404: Not Found' }
}

/** Jobs came, and canonical ids were asked for, after 0.3. */
const hasJobs = ({ settings }: Instance): boolean => !settings.version.startsWith('0.3.')

type Route = (asked: Asked, instance: Instance) => Reply | Promise<Reply>

const ROUTES: Readonly<Record<string, Route>> = {
  'POST /prompt': async ({ body }, instance) => await postPrompt(readJson(body), instance),
  'GET /prompt': (_, { worker }) => ({
    json: { exec_info: { queue_remaining: worker.remaining() } },
  }),
  'GET /queue': (_, { worker }) => ({ json: worker.queue() }),
  'POST /queue': ({ body }, { worker }) => {
    const { clear, delete: ids = [] } = readJson(body)
    if (clear) worker.clear()
    for (const id of ids as string[]) worker.remove(id)
    return OK
  },
  'POST /interrupt': ({ body }, { worker }) => {
    let id: unknown
    try {
      id = readJson(body)['prompt_id']
    } catch {
      // No body is the interrupt of whatever runs.
    }
    worker.interrupt(typeof id === 'string' && id !== '' ? id : undefined)
    return OK
  },
  'POST /free': ({ body }, { worker }) => {
    if (readJson(body)['free_memory']) worker.free()
    return OK
  },
  'GET /history': ({ query }, { worker }) => {
    const max = Number(query.get('max_items') ?? Number.POSITIVE_INFINITY)
    return { json: Object.fromEntries([...worker.history].slice(-max)) }
  },
  'POST /history': ({ body }, { worker }) => {
    const { clear, delete: ids = [] } = readJson(body)
    if (clear) worker.history.clear()
    for (const id of ids as string[]) worker.history.delete(id)
    return OK
  },
  'POST /upload/image': async ({ body, headers }, { folders }) => {
    const type = headers['content-type'] ?? ''
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    const stored = await folders.upload(form)
    if (stored === 500) return SERVER_ERROR
    return typeof stored === 'number' ? { status: stored } : { json: stored }
  },
  'GET /view': async ({ query }, { folders }) => {
    const found = await folders.view(query)
    return typeof found === 'number' ? { status: found } : { file: found }
  },
  'GET /object_info': async (_, instance) => ({ json: await describeClasses(instance) }),
  'GET /features': (_, { settings }) => ({
    json: { supports_preview_metadata: true, max_upload_size: settings.maxUploadBytes },
  }),
  'GET /system_stats': (_, { settings }) => ({ json: describeSystem(settings) }),
  'GET /api/jobs': ({ query }, instance) =>
    hasJobs(instance)
      ? { json: listJobs(query, instance.worker) }
      : { status: 404, text: '404: Not Found' },
}

const METHODS = Object.fromEntries(
  Object.keys(ROUTES).map((key) => [key.slice(key.indexOf(' ') + 1), true]),
)

const readJson = (body: Buffer): Record<string, unknown> => {
  const value: unknown = JSON.parse(body.toString())
  if (typeof value !== 'object' || value === null) throw new TypeError('not a mapping')
  return value as Record<string, unknown>
}

const postPrompt = async (body: Record<string, unknown>, instance: Instance): Promise<Reply> => {
  const given = 'number' in body
  const counted = body['front'] ? -instance.number : instance.number
  const number = given ? Number(body['number']) : counted
  if (Number.isNaN(number)) return SERVER_ERROR
  if (!given) instance.number += 1
  if (!('prompt' in body)) return reject('no_prompt', 'No prompt provided')
  const id = readId(body, instance)
  if (id === undefined) return reject('invalid_prompt_id', 'prompt_id must be a valid UUID')
  const { prompt, partial_execution_targets: targets } = body
  const classes = await installedClasses(instance)
  const { outputs, error, nodeErrors } = validatePrompt(prompt, targets, {
    classes,
    folders: instance.folders,
    checksOptions: isPresent(instance.settings.version),
  })
  if (error) return { json: { error, node_errors: nodeErrors }, status: 400 }
  const extra: Record<string, unknown> = { ...Object(body['extra_data'] ?? {}) }
  if ('client_id' in body) extra['client_id'] = body['client_id']
  if (hasJobs(instance)) extra['create_time'] = Date.now()
  instance.worker.put([number, id, prompt as never, extra, outputs])
  instance.onPrompt(id)
  return { json: { prompt_id: id, number, node_errors: nodeErrors } }
}

const reject = (type: string, message: string): Reply => ({
  json: { error: { type, message, details: message, extra_info: {} }, node_errors: {} },
  status: 400,
})

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

const readId = (body: Record<string, unknown>, instance: Instance): string | undefined => {
  const given = body['prompt_id']
  if (given === undefined || (given === null && hasJobs(instance))) return randomUUID()
  if (hasJobs(instance)) return typeof given === 'string' && UUID.test(given) ? given : undefined
  return given === null ? 'None' : typeof given === 'string' ? given : JSON.stringify(given)
}

const installedClasses = async (instance: Instance): Promise<NodeClasses> => {
  const { folders, models, without, settings } = instance
  const classes = await makeClasses({ folders, models: models(), version: settings.version })
  return Object.fromEntries(Object.entries(classes).filter(([name]) => !without().includes(name)))
}

const describeClasses = async (instance: Instance, names?: string[]) => {
  const classes = await installedClasses(instance)
  const described = Object.entries(classes).filter(([name]) => names?.includes(name) ?? true)
  return Object.fromEntries(described.map(([name, found]) => [name, describeClass(name, found)]))
}

const pickHistory = (id: string, { worker }: Instance) => {
  const entry = worker.history.get(id)
  return entry ? { [id]: entry } : {}
}

const describeSystem = ({ version, vramBytes, argv }: Instance['settings']) => ({
  system: {
    os: 'posix',
    ram_total: 16 * 2 ** 30,
    ram_free: 8 * 2 ** 30,
    comfyui_version: version,
    python_version: '3.11.7',
    pytorch_version: '2.15.0',
    embedded_python: false,
    argv,
  },
  devices: [
    {
      name: 'cpu',
      type: 'cpu',
      index: null,
      vram_total: vramBytes,
      vram_free: vramBytes,
      torch_vram_total: vramBytes,
      torch_vram_free: vramBytes,
    },
  ],
})
