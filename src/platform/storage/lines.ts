import { StorageError, type Storage } from './storage.ts'

export interface StoredLine {
  /** Undefined where it has more than the most bytes. */
  bytes: Buffer | undefined
  /** Byte at which the line after it begins. */
  next: number
}

const NEWLINE = 10

/** Reads the lines of a file from a byte on, except blank ones. A long line takes no memory. Throws `not_found`. */
export async function* readLines(
  storage: Pick<Storage, 'open' | 'stat'>,
  key: string,
  { from = 0, maxBytes }: { from?: number; maxBytes: number },
): AsyncGenerator<StoredLine> {
  const file = await storage.stat(key)
  if (!file) throw new StorageError('not_found', `there is no file ${key}`)
  if (from >= file.size) return
  const { stream } = await storage.open(key, { start: from, end: file.size - 1 })
  const line = makeLine(maxBytes)
  let next = from
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end < 0) break
      line.add(chunk.subarray(start, end))
      next += end + 1 - start
      start = end + 1
      const taken = line.take()
      if (!taken.isBlank) yield { bytes: taken.bytes, next }
    }
    line.add(chunk.subarray(start))
    next += chunk.length - start
  }
  const last = line.take()
  if (!last.isBlank) yield { bytes: last.bytes, next }
}

/** Gathers the parts of a line; of one that is too long it keeps nothing. */
const makeLine = (maxBytes: number) => {
  let parts: Buffer[] = []
  let length = 0
  return {
    add(part: Buffer): void {
      length += part.length
      if (length > maxBytes) parts = []
      else parts.push(part)
    },
    take(): { bytes: Buffer | undefined; isBlank: boolean } {
      const bytes = length > maxBytes ? undefined : Buffer.concat(parts)
      const isBlank = bytes !== undefined && bytes.toString().trim() === ''
      parts = []
      length = 0
      return { bytes, isBlank }
    },
  }
}
