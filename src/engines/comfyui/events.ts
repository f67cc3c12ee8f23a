import { WebSocket } from 'undici'

import { isObject, parseObject } from '../../platform/domain/is-object.ts'
import type { ClientOptions } from './client.ts'

/** Events of an instance while prompts run. They may stop at any time, and nothing waits for them. */
export interface Events {
  /** Connects unless that was done lately. */
  listen(clientId: string): void
  /** Share of a prompt's nodes that are done, in per cent; 0 while nothing is known. */
  percentOf(id: string, nodes: number): number
  /** Takes the newest preview of a prompt, which is a JPEG or PNG. */
  takePreview(id: string): Buffer | undefined
  /** When the last event of a prompt came. */
  lastAt(): number
  close(): void
}

const RETRY_MS = 5000
/** Largest preview, far above what any method makes. */
const PREVIEW_BYTES = 2 * 2 ** 20
/** Prompts whose progress is kept: one instance has only a few at once. */
const MAX = 100

export const makeEvents = ({ url, token }: Pick<ClientOptions, 'url' | 'token'>): Events => {
  const { host, protocol } = new URL(url)
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
  const done = new Map<string, number>()
  let socket: WebSocket | undefined
  let triedAt = -Infinity
  let lastAt = -Infinity
  let lastId = ''
  /** Of the prompt that runs. */
  let preview: { id: string; picture: Buffer } | undefined
  /** Messages are texts; previews come as binary ones. */
  const read = ({ data }: { data: unknown }): void => {
    if (data instanceof ArrayBuffer) {
      const [bytes, isPicture] = [
        Buffer.from(data),
        data.byteLength > 8 && data.byteLength <= PREVIEW_BYTES,
      ]
      // A picture behind its type and its format; it is of the prompt whose events come.
      if (isPicture && bytes.readUInt32BE(0) === 1)
        preview = { id: lastId, picture: bytes.subarray(8) }
      return
    }
    const event = typeof data === 'string' ? parseObject(data) : undefined
    const facts = isObject(event?.['data']) ? event['data'] : {}
    const { prompt_id: id, nodes } = facts
    if (typeof id === 'string') {
      lastAt = performance.now()
      lastId = id
    }
    if (typeof id !== 'string' || !isObject(nodes)) return
    if (done.size >= MAX) done.clear()
    done.set(
      id,
      Object.values(nodes)
        .filter(isObject)
        .reduce((sum, node) => sum + shareOf(node), 0),
    )
  }
  return {
    listen(clientId) {
      if (socket || performance.now() - triedAt < RETRY_MS) return
      triedAt = performance.now()
      const address = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/ws?clientId=${clientId}`
      const opened = new WebSocket(address, { headers })
      opened.binaryType = 'arraybuffer'
      const drop = (): void => {
        if (socket === opened) socket = undefined
      }
      opened.addEventListener('message', read)
      opened.addEventListener('close', drop)
      opened.addEventListener('error', drop)
      socket = opened
    },
    percentOf: (id, nodes) => Math.min(99, Math.floor(((done.get(id) ?? 0) / nodes) * 100)),
    takePreview(id) {
      const taken = preview?.id === id ? preview.picture : undefined
      if (taken) preview = undefined
      return taken
    },
    lastAt: () => lastAt,
    close: () => socket?.close(),
  }
}

const shareOf = ({ state, value, max }: Record<string, unknown>): number => {
  if (state === 'finished') return 1
  return typeof value === 'number' && typeof max === 'number' && max > 0 ? value / max : 0
}
