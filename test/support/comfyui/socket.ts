import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** The events of `/ws`: text frames to the sockets of clients by their names. */
export interface Sockets {
  /** Takes a connection over that asks to be a socket; an earlier one of the same client goes silent, and stays open. */
  accept(request: IncomingMessage, socket: Duplex): string
  /** Sends to one client, or to all where none is named. */
  send(type: string, data: unknown, client?: string): void
  /** Sends a preview, which is a JPEG, to all. */
  preview(picture: Buffer): void
  has(client: string): boolean
  /** Sends no more to the sockets that there are, which stay open. */
  forget(): void
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export const makeSockets = (isSilent: () => boolean): Sockets => {
  const sockets = new Map<string, Duplex>()
  return {
    accept(request, socket) {
      const { searchParams } = new URL(request.url ?? '', 'http://localhost')
      const client = searchParams.get('clientId') || randomUUID().replaceAll('-', '')
      const key = String(request.headers['sec-websocket-key'])
      const accepted = createHash('sha1').update(`${key}${MAGIC}`).digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accepted}\r\n\r\n`,
      )
      sockets.set(client, socket)
      // ComfyUI forgets the name with whichever of its sockets ends first.
      socket.on('close', () => sockets.delete(client))
      socket.on('error', () => {})
      socket.on('data', (bytes: Buffer) => respond(socket, bytes))
      return client
    },
    send(type, data, client) {
      if (isSilent()) return
      const frame = makeFrame(0x1, Buffer.from(JSON.stringify({ type, data })))
      const to = client === undefined ? [...sockets.values()] : [sockets.get(client)]
      for (const socket of to) if (socket?.writable) socket.write(frame)
    },
    preview(picture) {
      // Its type, and its format.
      const frame = makeFrame(0x2, Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]), picture]))
      for (const socket of sockets.values()) if (socket.writable) socket.write(frame)
    },
    has: (client) => sockets.has(client),
    forget: () => sockets.clear(),
  }
}

const CLOSE = 0x8
const PING = 0x9

/** Clients send little, so a frame is taken to come whole. */
const respond = (socket: Duplex, bytes: Buffer): void => {
  const opcode = (bytes[0] ?? 0) & 0x0f
  const length = (bytes[1] ?? 0) & 0x7f
  const mask = bytes.subarray(2, 6)
  const payload = bytes.subarray(6, 6 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
  if (opcode === PING) socket.write(makeFrame(0xa, Buffer.from(payload)))
  if (opcode === CLOSE) socket.end(makeFrame(CLOSE, Buffer.from(payload)))
}

const makeFrame = (opcode: number, payload: Buffer): Buffer => {
  const { length } = payload
  const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  header[0] = 0x80 | opcode
  header[1] = length < 126 ? length : length < 65_536 ? 126 : 127
  if (header.length === 4) header.writeUInt16BE(length, 2)
  if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([header, payload])
}
