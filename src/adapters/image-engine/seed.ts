import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { ImageRequest } from '../../domain/image-task/image-kind.ts'
import type { NoiseSeed } from './noise.ts'

/** The grain's seed: SHA-256 of the input's bytes and the applied fields, so that an equal request gives equal bytes. */
export const makeSeed = async (
  path: string,
  { kind, settings }: ImageRequest,
): Promise<NoiseSeed> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { end: false })
  hash.update(JSON.stringify([kind, sorted(settings)]))
  const digest = hash.digest()
  return [digest.readInt32BE(0), digest.readInt32BE(4)]
}

/** Members in the order of their names, at every depth. */
const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object'
    ? Object.entries(value)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [name, sorted(member)])
    : value
