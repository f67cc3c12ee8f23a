import type { Socket } from 'node:net'
import { OutboundError } from './error.ts'

/** Enough for a status line behind a few responses of the 1xx class. */
const HEAD_CHARACTERS = 4_096

/** Bytes that come in on a connection. */
interface Incoming {
  /** The first characters. */
  head: string
  /** Bytes that may still come. */
  left: number
}

const watched = new WeakMap<Socket, Incoming>()

/** Part of a response that has come. */
export interface ResponseWatch {
  /** The status in the first bytes, once it is there. */
  status: () => number | undefined
  /** True once any byte has come. */
  hasBegun: () => boolean
}

/**
 * Watches the first bytes that come in from now on. undici reports a response once its head is whole, but a server that
 * says 200 and then breaks off has taken the message.
 */
export const watchResponse = (socket: Socket): ResponseWatch => {
  const incoming = watchIncoming(socket)
  incoming.head = ''
  return { status: () => findStatus(incoming.head), hasBegun: () => incoming.head !== '' }
}

/**
 * Ends a connection that brings more than so many bytes from now on. undici bounds the head and the body of a response,
 * but not the responses of the 1xx class, the blank lines and the reason before it, nor what stands between the pieces
 * of a body: each of them may go on for as long as the deadline lets it, as fast as the network is.
 */
export const boundBytes = (socket: Socket, max: number): void => {
  watchIncoming(socket).left = max
}

const watchIncoming = (socket: Socket): Incoming => {
  const known = watched.get(socket)
  if (known) return known
  const incoming: Incoming = { head: '', left: Number.POSITIVE_INFINITY }
  watched.set(socket, incoming)
  // Bytes enter a socket here. undici reads late, and nothing at all once the connection was reset.
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    const room = HEAD_CHARACTERS - incoming.head.length
    if (chunk !== null && room > 0) incoming.head += chunk.toString('latin1', 0, room)
    incoming.left -= chunk?.length ?? 0
    if (incoming.left >= 0) return push(chunk, encoding)
    socket.destroy(new OutboundError('too_large'))
    return false
  }
  return incoming
}

const findStatus = (head: string): number | undefined => {
  for (let at = 0; ;) {
    const text = head.slice(at)
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n/.exec(text)?.[1] ?? 0)
    if (status >= 200) return status
    const end = text.indexOf('\r\n\r\n')
    if (status === 0 || end === -1) return undefined
    at += end + 4
  }
}
