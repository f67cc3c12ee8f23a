import type { Socket } from 'node:net'

/** Enough for a status line behind a few answers of the 1xx class. */
const MOST_CHARACTERS = 4_096

/**
 * Watches the first bytes that come in, and answers the status that they tell so far. undici reports an answer once its
 * head is whole, but a receiver that says 200 and then breaks off has taken the message.
 */
export const watchStatusLine = (socket: Socket): (() => number | undefined) => {
  let head = ''
  // Bytes enter a socket here. undici reads late, and nothing at all once the connection was reset.
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null && head.length < MOST_CHARACTERS)
      head += chunk.toString('latin1', 0, MOST_CHARACTERS - head.length)
    return push(chunk, encoding)
  }
  return () => findStatus(head)
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
