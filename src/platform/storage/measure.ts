import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

import { StorageError, type StoredDigest } from './storage.ts'

/** Read at once: each read is a turn of the thread pool. */
const CHUNK_BYTES = 2 ** 18

/** Computes the size and digest of a local file, or of bytes. */
export const digestFile = async (
  file: string | Uint8Array,
  signal?: AbortSignal,
): Promise<StoredDigest> => {
  const hash = createHash('sha256')
  let bytes = 0
  const options = { highWaterMark: CHUNK_BYTES, signal }
  const chunks: AsyncIterable<Buffer> | Uint8Array[] =
    typeof file === 'string' ? createReadStream(file, options) : [file]
  for await (const chunk of chunks) {
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
