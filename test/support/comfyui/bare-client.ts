import { FormData, WebSocket, request } from 'undici'

import { waitFor } from '../wait.ts'
import type { StoredFile } from './folders.ts'
import type { Graph } from './validate.ts'
import type { HistoryEntry, QueueItem } from './worker.ts'

export interface Reply<T = unknown> {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
  /** The body as text. */
  text: string
  /** The body from JSON; undefined where it is none. */
  json: T
}

export interface Queue {
  queue_running: QueueItem[]
  queue_pending: QueueItem[]
}

interface Upload {
  name: string
  bytes: Buffer
  type?: string
  subfolder?: string
  overwrite?: string
}

/** A socket and the text frames that came so far. */
export interface Events {
  events: { type: string; data: Record<string, unknown> }[]
  types(): string[]
  isOpen(): boolean
  close(): void
}

export interface BareClient {
  url: string
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Reply<T>>
  post<T = unknown>(path: string, body: unknown): Promise<Reply<T>>
  send(method: string, path: string, options?: SendOptions): Promise<Reply>
  upload(upload: Upload): Promise<Reply<{ name: string; subfolder: string; type: string }>>
  queue(): Promise<Queue>
  history(id: string): Promise<HistoryEntry | undefined>
  /** Waits for the end of a prompt. */
  ended(id: string): Promise<HistoryEntry>
  view(file: StoredFile): Promise<Reply>
  listen(client?: string): Promise<Events>
}

interface SendOptions {
  headers?: Record<string, string>
  body?: string | FormData
}

/** Speaks with a ComfyUI as a person with curl does: no rules, no retries. */
export const makeBareClient = (url: string): BareClient => {
  const send = async (
    method: string,
    path: string,
    { headers = {}, body }: SendOptions = {},
  ): Promise<Reply> => {
    const response = await request(`${url}${path}`, {
      method: method as 'GET',
      headers,
      body: body ?? null,
    })
    const bytes = Buffer.from(await response.body.arrayBuffer())
    const text = bytes.toString()
    return {
      status: response.statusCode,
      headers: response.headers,
      bytes,
      text,
      json: parse(text),
    }
  }
  const client: BareClient = {
    url,
    send,
    get: async <T>(path: string, headers = {}) =>
      (await send('GET', path, { headers })) as Reply<T>,
    post: async <T>(path: string, body: unknown) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return (await send('POST', path, { body: text })) as Reply<T>
    },
    async upload({ name, bytes, ...fields }) {
      const body = new FormData()
      body.set('image', new Blob([new Uint8Array(bytes)]), name)
      for (const [field, value] of Object.entries(fields)) body.set(field, value)
      return (await send('POST', '/upload/image', { body })) as never
    },
    queue: async () => (await client.get<Queue>('/queue')).json,
    history: async (id) =>
      (await client.get<Record<string, HistoryEntry>>(`/history/${id}`)).json[id],
    ended: async (id) => await waitFor(`the end of ${id}`, async () => await client.history(id)),
    view: async ({ filename, subfolder, type }) =>
      await client.get(`/view?${new URLSearchParams({ filename, subfolder, type }).toString()}`),
    async listen(name) {
      const query = name === undefined ? '' : `?clientId=${name}`
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws${query}`)
      const events: Events['events'] = []
      socket.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') events.push(JSON.parse(data) as Events['events'][number])
      })
      await new Promise((resolve, reject) => {
        socket.addEventListener('open', resolve)
        socket.addEventListener('error', () => reject(new Error('the socket was not opened')))
      })
      return {
        events,
        types: () => events.map(({ type }) => type),
        isOpen: () => socket.readyState === WebSocket.OPEN,
        close: () => socket.close(),
      }
    },
  }
  return client
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The files that a prompt has saved, of all its nodes. */
export const listSaved = (entry: HistoryEntry): StoredFile[] =>
  Object.values(entry.outputs).flatMap(
    (output) => (output as { images?: StoredFile[] }).images ?? [],
  )

/** A graph of one picture that is loaded, blurred and saved. */
export const makeGraph = (image: string, folder: string): Graph => ({
  1: { class_type: 'LoadImage', inputs: { image } },
  2: { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 2, sigma: 1 } },
  9: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: `${folder}/r` } },
})

/** The same with a fault before the picture is saved. */
export const makeFaultGraph = (
  image: string,
  { mode, seconds = 1, folder }: { mode: string; seconds?: number; folder: string },
): Graph => ({
  1: { class_type: 'LoadImage', inputs: { image } },
  2: { class_type: 'KilnFault', inputs: { image: ['1', 0], mode, seconds } },
  9: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: `${folder}/r` } },
})
