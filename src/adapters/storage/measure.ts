import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

import { StorageError, type StoredDigest } from './storage.ts'

/** Read at once: each read is a turn of the thread pool. */
const CHUNK_BYTES = 2 ** 18

/** Computes the size and digest of a local file. */
export const digestFile = async (path: string, signal?: AbortSignal): Promise<StoredDigest> => {
  const hash = createHash('sha256')
  let bytes = 0
  const file: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal })
  for await (const chunk of file) {
    bytes += chunk.length
    hash.update(chunk)
  }
  return { bytes, sha256: hash.digest('hex') }
}

/**
 * Lets bytes pass and measures them; the result is there at their end. They throw `too_large` once they are more than
 * `maxBytes`.
 */
export const makeMeasure = (maxBytes: number) => {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    pass: async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > maxBytes) throw new StorageError('too_large', `longer than ${maxBytes} bytes`)
        hash.update(chunk)
        yield chunk
      }
    },
    digest: (): StoredDigest => ({ bytes, sha256: hash.digest('hex') }),
  }
}
