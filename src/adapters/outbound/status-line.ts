import type { Socket } from 'node:net'

/** Enough for a status line behind a few answers of the 1xx class. */
const MOST_CHARACTERS = 4_096

/** What has come of an answer. */
export interface AnswerWatch {
  /** The status that the first bytes tell so far. */
  status: () => number | undefined
  /** Whether any byte has come. */
  hasBegun: () => boolean
}

const heads = new WeakMap<Socket, { text: string }>()

/**
 * Watches the first bytes that come in from now on. undici reports an answer once its head is whole, but a receiver that
 * says 200 and then breaks off has taken the message.
 */
export const watchAnswer = (socket: Socket): AnswerWatch => {
  const head = heads.get(socket) ?? collectHead(socket)
  head.text = ''
  return { status: () => findStatus(head.text), hasBegun: () => head.text !== '' }
}

const collectHead = (socket: Socket): { text: string } => {
  const head = { text: '' }
  heads.set(socket, head)
  // Bytes enter a socket here. undici reads late, and nothing at all once the connection was reset.
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    const { length } = head.text
    if (chunk !== null && length < MOST_CHARACTERS)
      head.text += chunk.toString('latin1', 0, MOST_CHARACTERS - length)
    return push(chunk, encoding)
  }
  return head
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
