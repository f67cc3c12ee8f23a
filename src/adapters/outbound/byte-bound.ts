import type { Socket } from 'node:net'
import { OutboundFault } from './fault.ts'

const bounds = new WeakMap<Socket, { left: number }>()

/**
 * Ends a connection that brings more than so many bytes from now on. undici bounds the head and the body of an answer, but
 * not the answers of the 1xx class, the blank lines and the reason before it, nor what stands between the pieces of a
 * body: each of them may go on for as long as the deadline lets it, as fast as the network is.
 */
export const boundBytes = (socket: Socket, most: number): void => {
  const bound = bounds.get(socket) ?? watchBytes(socket)
  bound.left = most
}

const watchBytes = (socket: Socket): { left: number } => {
  const bound = { left: 0 }
  bounds.set(socket, bound)
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    bound.left -= chunk?.length ?? 0
    if (bound.left >= 0) return push(chunk, encoding)
    socket.destroy(new OutboundFault('too_large'))
    return false
  }
  return bound
}
