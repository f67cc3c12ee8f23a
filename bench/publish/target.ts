import { createHash } from 'node:crypto'

import { makeZip } from '../../test/support/zip.ts'
import { makeRandom } from '../search/random.ts'

/** Who publishes, and with what. */
export interface Target {
  publisherId: string
  userId: string
  tokenId: string
  /** The personal access token itself. */
  token: string
}

export interface Archive {
  bytes: Buffer
  /** The same, in pieces as a socket gives them. */
  chunks: Buffer[]
  /** Lower-case hex. */
  sha256: string
}

/** Publishes a version with its archive and resolves when it is Active. */
export type PublishOnce = (
  archive: Archive,
  version: { nodeId: string; version: string },
) => Promise<void>

const CHUNK = 65_536

/** A zip of so many bytes of noise, which no reader can shorten; the same in every run. */
export const makeArchive = (size: number): Archive => {
  const random = makeRandom(size)
  const noise = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4)
    noise.writeUInt32LE(Math.floor(random.next() * 2 ** 32), at)
  const bytes = makeZip(noise, 'pack/weights.bin')
  const count = Math.ceil(bytes.length / CHUNK)
  return {
    bytes,
    chunks: Array.from({ length: count }, (_, at) => bytes.subarray(at * CHUNK, (at + 1) * CHUNK)),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}
