import { createHash } from 'node:crypto'

import { StorageFault } from './storage.ts'
import type { StoredDigest } from './storage.ts'

/** Lets bytes pass and tells, at their end, what they were. They throw `too_large` once they are more than `maxBytes`. */
export const makeMeasure = (maxBytes: number) => {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    pass: async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > maxBytes) throw new StorageFault('too_large', `longer than ${maxBytes} bytes`)
        hash.update(chunk)
        yield chunk
      }
    },
    digest: (): StoredDigest => ({ bytes, sha256: hash.digest('hex') }),
  }
}
