import { deflateSync } from 'node:zlib'

import CRC32 from 'crc-32'
import sharp from 'sharp'

/** A PNG of one pixel with compressed texts. */
export const pngOfTexts = (texts: number): Buffer => {
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0])
  const packed = deflateSync(Buffer.alloc(100, 'a'))
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...Array.from({ length: texts }, (_, i) =>
      pngChunk('zTXt', Buffer.concat([Buffer.from(`k${i}\0\0`), packed])),
    ),
    pngChunk('IDAT', deflateSync(Buffer.alloc(4))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

export const pngChunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type), data])
  const crc = Buffer.alloc(4)
  crc.writeInt32BE(CRC32.buf(body))
  return Buffer.concat([length, body, crc])
}

/** A WebP of frames of one pixel; nested: each but the first stands inside the one before. */
export const webpOfFrames = async (frames: number, nested = false): Promise<Buffer> => {
  const create = { width: 1, height: 1, channels: 4, background: '#0008' } as const
  const still = await sharp({ create }).webp({ lossless: true }).toBuffer()
  const pixel = still.subarray(still.indexOf('VP8L'))
  const frame = Buffer.concat([Buffer.alloc(16), pixel])
  const whole = nested ? frame.length + (frames - 1) * (frame.length + 8) : frame.length
  const rest = Array.from({ length: frames - 1 }, () => riffChunk('ANMF', frame))
  const first = riffChunk('ANMF', frame)
  first.writeUInt32LE(whole, 4)
  const extended = riffChunk('VP8X', Buffer.from([0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0]))
  const body = [extended, riffChunk('ANIM', Buffer.alloc(6)), first, ...rest]
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...body]))
}

const riffChunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

/** A GIF of frames of one pixel. */
export const gifOfFrames = (frames: number): Buffer => {
  const screen = Buffer.from('GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1')
  const frame = Buffer.from('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1')
  return Buffer.concat([screen, ...Array.from({ length: frames }, () => frame), Buffer.from(';')])
}

export interface TiffShape {
  pages?: number
  /** Number of fields of each page; nine at least. */
  fields?: number
  /** Bytes in each field beyond those nine. */
  valueBytes?: number
  /** The last page is followed by the first. */
  endless?: boolean
}

const TIFF_FIELDS = [
  [256, 1],
  [257, 1],
  [258, 8],
  [259, 1],
  [262, 1],
  [273, 0],
  [277, 1],
  [278, 1],
  [279, 1],
] as const

/** A TIFF of pages of one pixel. */
export const makeTiff = (shape: TiffShape = {}): Buffer => {
  const { pages = 1, fields = TIFF_FIELDS.length, valueBytes = 1, endless = false } = shape
  const size = 2 + 12 * fields + 4
  const file = Buffer.alloc(8 + pages * size)
  file.write('II*\0', 'latin1')
  file.writeUInt32LE(8, 4)
  for (let page = 0; page < pages; page += 1) {
    const start = 8 + page * size
    file.writeUInt16LE(fields, start)
    for (let i = 0; i < fields; i += 1) {
      const [tag, value] = TIFF_FIELDS[i] ?? [40_000 + i, 0]
      const at = start + 2 + 12 * i
      file.writeUInt16LE(tag, at)
      file.writeUInt16LE(i < TIFF_FIELDS.length ? 4 : 7, at + 2)
      file.writeUInt32LE(i < TIFF_FIELDS.length ? 1 : valueBytes, at + 4)
      file.writeUInt32LE(value, at + 8)
    }
    const next = page + 1 < pages ? start + size : endless ? 8 : 0
    file.writeUInt32LE(next, start + size - 4)
  }
  return file
}
