import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

import { startReceiver } from './network.ts'
import { makePicture } from './pictures.ts'

/** Request to a fake upstream. */
export interface Asked {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

/**
 * Response in place of the usual one; `drop` closes the connection unread, `lose` after the request took effect, and `hang`
 * leaves it open then.
 */
export type Step =
  | 'drop'
  | 'lose'
  | 'hang'
  | { status: number; headers?: Record<string, string>; body?: unknown }

type What = 'create' | 'status' | 'file' | 'cancel'

export interface FakeUpstream {
  url: string
  asked: Asked[]
  /** Ids of its tasks by idempotency key. */
  tasks: Map<string, string>
  /** Counts the requests for something. */
  count(what: What): number
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** Responses in turn in place of the usual ones; the last is repeated where `forever` names it. */
  steps?: Partial<Record<What, Step[]>>
  forever?: What
  /** Makes the response of the status route for a task that is done. */
  done(id: string, base: string): unknown
  files: Readonly<Record<string, Buffer>>
  /** Its OpenAPI document; absent: it has none. */
  document?: object
}

/** Speaks as much of the interface as an engine needs: makes one task for a key, and is done with it at once. */
export const startFakeUpstream = async ({
  steps = {},
  forever,
  done,
  files,
  document,
}: UpstreamOptions): Promise<FakeUpstream> => {
  const asked: Asked[] = []
  const tasks = new Map<string, string>()
  const counts = { create: 0, status: 0, file: 0, cancel: 0 }
  const respondAsUsual = (what: What, request: IncomingMessage, path: string): Step => {
    if (what === 'file') return { status: 200, body: files[path.split('/').at(-1) ?? ''] }
    const key = String(request.headers['idempotency-key'])
    if (what === 'create') {
      const id = tasks.get(key) ?? randomUUID()
      tasks.set(key, id)
      return { status: 200, body: { task_id: id, status: 'CREATED', state: 'created' } }
    }
    const id = [...tasks.values()].find((id) => path.includes(id))
    return id === undefined
      ? { status: 404, body: { error: 'task_not_found' } }
      : { status: 200, body: done(id, url) }
  }
  const result = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '' } = request
    if (path === '/openapi.json')
      return void response.writeHead(document ? 200 : 404).end(JSON.stringify(document ?? {}))
    const what = whatOf(method, path)
    counts[what] += 1
    const left = steps[what] ?? []
    const step = left.length > 1 || forever !== what ? left.shift() : left[0]
    if (step === 'drop') return void request.socket.destroy()
    const body = method === 'POST' ? ((await json(request)) as Asked['body']) : {}
    asked.push({ method, path, headers: request.headers, body })
    const usual = respondAsUsual(what, request, path)
    if (step === 'lose') return void request.socket.destroy()
    if (step === 'hang') return
    const { status, headers, body: said = '' } = step ?? (usual as Exclude<Step, string>)
    response.writeHead(status, headers).end(Buffer.isBuffer(said) ? said : JSON.stringify(said))
  }
  const server = await startReceiver((request, response) => {
    result(request, response).catch(() => response.destroy())
  })
  const url = `http://127.0.0.1:${server.port}`
  return { url, asked, tasks, count: (what) => counts[what], close: server.close }
}

const box = (type: string, size: number): Buffer => {
  const bytes = Buffer.alloc(size)
  bytes.writeUInt32BE(size)
  bytes.write(type, 4, 'latin1')
  return bytes
}

/** The smallest file that passes for a whole video. */
export const MP4 = Buffer.concat([box('ftyp', 24), box('moov', 40), box('mdat', 100)])

/** Response of an upstream about a video that is done, by its files `video.mp4` and `cover.jpg`. */
export const creationAt = (base: string) => ({
  id: 'x',
  url: `${base}/files/video.mp4`,
  cover_url: `${base}/files/cover.jpg`,
  watermarked_url: '',
  video: { duration: 4, fps: 24, resolution: { width: 96, height: 64 } },
})

/** Starts an upstream of both families that is done with each task at once: with a picture, or a video. */
export const startDoneUpstream = async (
  options: Partial<UpstreamOptions> = {},
): Promise<FakeUpstream> =>
  await startFakeUpstream({
    done: (id, base) => ({
      task_id: id,
      status: 'done',
      generated: [`${base}/files/a.png`],
      state: 'success',
      creations: [creationAt(base)],
    }),
    files: {
      'a.png': await makePicture(),
      'video.mp4': MP4,
      'cover.jpg': await makePicture({ format: 'jpeg' }),
    },
    ...options,
  })

const whatOf = (method: string, path: string): What => {
  if (method === 'POST') return path.endsWith('/cancel') ? 'cancel' : 'create'
  return path.startsWith('/files/') ? 'file' : 'status'
}
