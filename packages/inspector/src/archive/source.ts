import { open } from 'node:fs/promises'

/** Bytes that can be read at any place, so that an archive is never loaded whole. */
export interface RandomAccess {
  /** Bytes in all. */
  size: number
  /** Reads exactly `length` bytes from `offset`; both lie within the size. Rejects when they can't be read. */
  read: (offset: number, length: number) => Promise<Uint8Array>
}

/** Opens a file; its size is the one it has now, and a file that is cut meanwhile fails the reads behind its end. */
export const openFileSource = async (
  path: string,
): Promise<RandomAccess & { close: () => Promise<void> }> => {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    return {
      size,
      close: () => file.close(),
      read: async (offset, length) => {
        const bytes = new Uint8Array(length)
        for (let done = 0; done < length;) {
          const { bytesRead } = await file.read(bytes, done, length - done, offset + done)
          if (bytesRead === 0) throw new Error(`The archive ended before byte ${offset + length}`)
          done += bytesRead
        }
        return bytes
      },
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Bytes of a source as a view of their numbers. */
export const readView = async (
  source: RandomAccess,
  offset: number,
  length: number,
): Promise<DataView> => {
  const bytes = await source.read(offset, length)
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A source could not be read: no verdict about the archive, the reading itself failed. */
export class SourceError extends Error {
  constructor(cause: unknown) {
    super('The archive could not be read', { cause })
    this.name = 'SourceError'
  }
}

/** Wraps a source so that its failures differ from issues of the archive, and it stops reading when asked to. */
export const guardSource = (source: RandomAccess, signal?: AbortSignal): RandomAccess => ({
  size: source.size,
  read: async (offset, length) => {
    try {
      signal?.throwIfAborted()
      return await source.read(offset, length)
    } catch (cause) {
      throw new SourceError(cause)
    }
  },
})

/**
 * Wraps a source to serve small reads from the last block read: headers and small entries lie one behind another, and
 * each took a trip through the thread pool.
 */
export const withReadAhead = (source: RandomAccess): RandomAccess => {
  let block: Uint8Array = new Uint8Array()
  let start = 0
  return {
    size: source.size,
    read: async (offset, length) => {
      if (length > BLOCK_BYTES) return await source.read(offset, length)
      if (offset < start || offset + length > start + block.length) {
        block = await source.read(offset, Math.min(BLOCK_BYTES, source.size - offset))
        start = offset
      }
      return block.slice(offset - start, offset - start + length)
    },
  }
}

const BLOCK_BYTES = 64 * 1024
