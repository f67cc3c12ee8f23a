import { Agent, WebSocket } from 'undici'

import { parseStorable } from '../../platform/db/storable-text.ts'
import { isObject } from '../../platform/domain/is-object.ts'
import { makeTrustedConnector } from '../../platform/outbound/trusted.ts'
import type { OriginOptions } from '../origin.ts'

/** Events of one prompt. They may stop at any time, and nothing waits for them. */
export interface PromptEvents {
  /** Opens the socket again after a silence, in which it may have died. */
  renew(): void
  /** Share of the prompt's nodes that are done, in per cent; 0 while nothing is known. */
  percentOf(nodes: number): number
  /** Takes the newest preview, which is a JPEG or PNG. */
  takePreview(): Buffer | undefined
  /**
   * True when the prompt's events have stopped while the instance sends others: a socket opened after the last of them has
   * spoken, but not of the prompt. False where no event of the prompt has come.
   */
  isStalled(): boolean
  close(): void
}

/** Events of an instance, on one socket for each prompt. */
export interface Events {
  /** Opens the socket of a prompt whose client has the same id, so that whoever follows it next gets its events. */
  listen(id: string, stallMs: number): PromptEvents
  /** When the last event of any prompt came. */
  lastAt(): number
}

/** Silence after which a socket is opened again. Nodes without a bar are silent for longer, and do not notice. */
const QUIET_MS = 10_000
/** Time for a connection to begin or to end. */
const CONNECT_MS = 5000
/** Largest preview, far above what any method makes. */
const PREVIEW_BYTES = 2 * 2 ** 20

export const makeEvents = ({
  url,
  token,
  outbound,
}: Pick<OriginOptions, 'url' | 'token' | 'outbound'>): Events => {
  const { host, protocol } = new URL(url)
  const address = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/ws?clientId=`
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
  const dispatcher = new Agent({ connect: makeTrustedConnector(outbound.proxy) })
  let lastAt = -Infinity
  const listen = (id: string, stallMs: number): PromptEvents => {
    const quietMs = Math.min(QUIET_MS, stallMs / 3)
    let socket: WebSocket | undefined
    let isEnding = false
    let isOver = false
    /** When the socket was opened, closed or heard. */
    let activeAt = -Infinity
    let done = 0
    let preview: Buffer | undefined
    let eventAt: number | undefined
    /** When a socket that was opened after the last event spoke first. */
    let renewedAt: number | undefined
    /** Messages are texts; previews come as binary ones. */
    const read = (data: unknown, openedAt: number): void => {
      activeAt = performance.now()
      if (data instanceof ArrayBuffer) preview = readPreview(data) ?? preview
      const event = typeof data === 'string' ? parseStorable(data) : undefined
      const facts = isObject(event?.['data']) ? event['data'] : {}
      const { prompt_id: of, nodes } = facts
      if (typeof of === 'string') lastAt = activeAt
      if (of === id) {
        eventAt = activeAt
        renewedAt = undefined
        if (isObject(nodes)) done = countDone(nodes)
      } else if (eventAt !== undefined && openedAt > eventAt) renewedAt ??= activeAt
    }
    const open = (): void => {
      const openedAt = performance.now()
      activeAt = openedAt
      isEnding = false
      const opened = new WebSocket(address + id, { headers, dispatcher })
      opened.binaryType = 'arraybuffer'
      const drop = (): void => {
        if (socket !== opened) return
        socket = undefined
        if (isEnding && !isOver) open()
      }
      opened.addEventListener('message', ({ data }) => {
        if (socket === opened) read(data, openedAt)
      })
      opened.addEventListener('close', drop)
      opened.addEventListener('error', drop)
      socket = opened
    }
    open()
    return {
      renew() {
        const isOpen = socket?.readyState === WebSocket.OPEN && !isEnding
        if (performance.now() - activeAt < (isOpen ? quietMs : CONNECT_MS)) return
        if (!socket || isEnding) return open()
        // An instance forgets a client with whichever of its sockets ends first, so the next one is opened after it.
        isEnding = true
        activeAt = performance.now()
        socket.close()
      },
      percentOf: (nodes) => Math.min(99, Math.floor((done / nodes) * 100)),
      takePreview() {
        const taken = preview
        preview = undefined
        return taken
      },
      isStalled() {
        if (eventAt === undefined || renewedAt === undefined) return false
        const now = performance.now()
        return now - eventAt >= stallMs && now - renewedAt >= quietMs
      },
      close() {
        isOver = true
        socket?.close()
      },
    }
  }
  return { listen, lastAt: () => lastAt }
}

/** Reads a picture, which stands behind its type and its format. */
const readPreview = (data: ArrayBuffer): Buffer | undefined => {
  const bytes = Buffer.from(data)
  const isPicture = bytes.length > 8 && bytes.length <= PREVIEW_BYTES && bytes.readUInt32BE(0) === 1
  return isPicture ? bytes.subarray(8) : undefined
}

const countDone = (nodes: Record<string, unknown>): number =>
  Object.values(nodes)
    .filter(isObject)
    .reduce((sum, node) => sum + shareOf(node), 0)

const shareOf = ({ state, value, max }: Record<string, unknown>): number => {
  if (state === 'finished') return 1
  return typeof value === 'number' && typeof max === 'number' && max > 0 ? value / max : 0
}
