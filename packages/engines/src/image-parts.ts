import { open, type FileHandle } from 'node:fs/promises'

/**
 * Most parts of a file. libvips goes through every part even when it is asked for the header alone, and 50 MB can hold
 * millions of parts. Without limits such a header took 7.6 GB (PNG), 13 minutes (WebP) or hours (TIFF).
 */
const MAX = {
  /** Frames of a WebP or GIF. libwebp counts from the first one to find the next. */
  frames: 10_000,
  /** Texts of a PNG that may be compressed. libpng unpacks each to up to 8 MB. */
  texts: 32,
  /** Fields of a TIFF, fields of one page (libtiff compares these with each other), and bytes of their values. */
  fields: 20_000,
  pageFields: 256,
  valueBytes: 64 * 2 ** 20,
}

/** True when an image has few enough parts to be read. It does not say that they are sound. */
export const hasFewParts = async (peek: Peek, format: string): Promise<boolean> =>
  (await CHECKS[format]?.(peek)) ?? true

/** The bytes at a place; fewer, or none, at the end of the file. Only now and then there is something to wait for. */
export type Peek = (at: number, bytes: number) => Buffer | Promise<Buffer>

/** Reads here and there in a file, which is a path or the bytes themselves. */
export const peekInto = async <T>(
  file: string | Buffer,
  read: (peek: Peek) => Promise<T>,
): Promise<T> => {
  if (typeof file !== 'string') return await read((at, bytes) => file.subarray(at, at + bytes))
  const opened = await open(file, 'r')
  try {
    return await read(makePeek(opened))
  } finally {
    await opened.close()
  }
}

const BLOCK_BYTES = 64 * 1024

const makePeek = (file: FileHandle): Peek => {
  const block = Buffer.alloc(BLOCK_BYTES)
  let [start, end] = [0, 0]
  return (at, bytes) => {
    if (at >= start && at + bytes <= end) return block.subarray(at - start, at - start + bytes)
    return file.read(block, 0, BLOCK_BYTES, at).then(({ bytesRead }) => {
      start = at
      end = at + bytesRead
      return block.subarray(0, Math.min(bytes, bytesRead))
    })
  }
}

/** Counts words wherever they stand: a walk from chunk to chunk could be led past some. */
const holdsAtMost =
  (most: number, words: readonly string[]) =>
  async (peek: Peek): Promise<boolean> => {
    let found = 0
    for (let at = 0; ;) {
      const bytes = await peek(at, BLOCK_BYTES)
      for (const word of words)
        for (let i = bytes.indexOf(word); i >= 0; i = bytes.indexOf(word, i + 1)) found += 1
      if (found > most) return false
      if (bytes.length < BLOCK_BYTES) return true
      // A word may lie across two blocks.
      at += BLOCK_BYTES - 3
    }
  }

/** Bytes of a colour table, by the byte that describes it. */
const tableBytes = (flags = 0): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

const isShortGif = async (peek: Peek): Promise<boolean> => {
  const screen = await peek(0, 13)
  let at = 13 + tableBytes(screen[10])
  for (let frames = 0; frames <= MAX.frames;) {
    const block = await peek(at, 10)
    if (block[0] === 0x2c) {
      frames += 1
      at += 11 + tableBytes(block[9])
    } else if (block[0] === 0x21) at += 2
    else return true
    for (let size = 1; size > 0; at += 1 + size) {
      const head = peek(at, 1)
      size = (head instanceof Promise ? await head : head)[0] ?? 0
    }
  }
  return false
}

const BYTES_OF_TYPE = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8]

const isShortTiff = async (peek: Peek): Promise<boolean> => {
  const head = Buffer.from(await peek(0, 16))
  const isLittle = head[0] === 0x49
  const isBig = head[isLittle ? 2 : 3] === 43
  const number = (bytes: Buffer, at: number, size: number): number => {
    if (bytes.length < at + size) return 0
    if (size === 8) return Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at))
    return isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size)
  }
  const [countSize, placeSize, fieldSize] = isBig ? ([8, 8, 20] as const) : ([2, 4, 12] as const)
  let [fields, valueBytes] = [0, 0]
  for (let at = number(head, isBig ? 8 : 4, placeSize); at > 0;) {
    const count = number(await peek(at, countSize), 0, countSize)
    fields += 1 + count
    if (count > MAX.pageFields || fields > MAX.fields || at > Number.MAX_SAFE_INTEGER / 2)
      return false
    const page = await peek(at + countSize, count * fieldSize + placeSize)
    for (let i = 0; i < count; i += 1) {
      const values = number(page, i * fieldSize + 4, placeSize)
      valueBytes += values * (BYTES_OF_TYPE[number(page, i * fieldSize + 2, 2)] ?? 1)
    }
    if (valueBytes > MAX.valueBytes) return false
    at = number(page, count * fieldSize, placeSize)
  }
  return true
}

const CHECKS: Partial<Record<string, (peek: Peek) => Promise<boolean>>> = {
  png: holdsAtMost(MAX.texts, ['zTXt', 'iTXt']),
  webp: holdsAtMost(MAX.frames, ['ANMF']),
  gif: isShortGif,
  tiff: isShortTiff,
}
