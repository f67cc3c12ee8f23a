import { createReadStream, createWriteStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'

/**
 * Copies an MP4 file whose index comes first (faststart) and adds a `comment` to it, byte for byte. ffmpeg's own ways do
 * not keep every text: its metadata file ends a value at 1,000 bytes (4.1) or at a carriage return (5 and later), and an
 * argument would show it in the list of processes.
 */
export const copyWithComment = async (
  source: string,
  target: string,
  comment: string,
): Promise<void> => {
  const file = await open(source, 'r')
  try {
    const moov = await findMoov(file)
    const before = await read(file, 0, moov.start)
    const body = await read(file, moov.start + 8, moov.size - 8)
    const userData = makeUserData(comment)
    moveChunks(body, userData.length)
    const head = Buffer.concat([before, box('moov', body, userData)])
    const output = createWriteStream(target)
    output.write(head)
    await pipeline(createReadStream(source, { start: moov.start + moov.size }), output)
  } finally {
    await file.close()
  }
}

interface BoxPlace {
  start: number
  size: number
}

const findMoov = async (file: FileHandle): Promise<BoxPlace> => {
  for (let start = 0; ;) {
    const header = await read(file, start, 8)
    const size = header.readUInt32BE(0)
    const type = header.toString('latin1', 4)
    if (type === 'moov') return { start, size }
    if (type === 'mdat' || size < 8)
      throw new Error('the index of the MP4 file is not at its start')
    start += size
  }
}

const read = async (file: FileHandle, start: number, size: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, start)
  if (bytesRead < size) throw new Error('the MP4 file is cut')
  return buffer
}

const box = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const header = Buffer.alloc(8)
  header.writeUInt32BE(8 + body.length)
  header.write(type, 4, 'latin1')
  return Buffer.concat([header, body])
}

/** The boxes in which iTunes, and with it every player, looks for tags. */
const makeUserData = (comment: string): Buffer => {
  const handler = box('hdlr', zeros(8), Buffer.from('mdirappl', 'latin1'), zeros(9))
  // Type 1 is UTF-8.
  const data = box('data', Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]), Buffer.from(comment))
  return box('udta', box('meta', zeros(4), handler, box('ilst', box('\u00a9cmt', data))))
}

const zeros = (count: number): Buffer => Buffer.alloc(count)

const CONTAINERS = new Set(['trak', 'mdia', 'minf', 'stbl'])

/** The samples lie behind what is added: every chunk offset grows by it. Files here stay far below 4 GiB. */
const moveChunks = (boxes: Buffer, added: number): void => {
  for (let at = 0; at + 8 <= boxes.length;) {
    const size = boxes.readUInt32BE(at)
    const type = boxes.toString('latin1', at + 4, at + 8)
    const body = boxes.subarray(at + 8, at + size)
    if (CONTAINERS.has(type)) moveChunks(body, added)
    if (type === 'stco') moveOffsets(body, added)
    if (size < 8) throw new Error('the index of the MP4 file is broken')
    at += size
  }
}

const moveOffsets = (table: Buffer, added: number): void => {
  const count = table.readUInt32BE(4)
  for (let at = 8; at < 8 + 4 * count; at += 4)
    table.writeUInt32BE(table.readUInt32BE(at) + added, at)
}
