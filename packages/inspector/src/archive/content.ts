import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

import type { PlacedMember } from './directory.ts'
import { HEAD_BYTES } from './entry.ts'
import { reject } from './reject.ts'
import type { RandomAccess } from './source.ts'
import { EXCESS_BYTES, unpack } from './unpack.ts'

/** Result of reading one entry. */
interface Content {
  sha256: string
  head: Uint8Array
  text: Uint8Array | undefined
}

/**
 * Reads one entry piece by piece, checks its size and CRC against the directory and keeps its head, or all of it if
 * `keepsText`. It stops `EXCESS_BYTES` above the declared size: no more is ever unpacked than that and what the limits
 * let an entry declare.
 */
export const readContent = async (
  source: RandomAccess,
  member: PlacedMember,
  keepsText: boolean,
): Promise<Content> => {
  const { path, bytes } = member
  const hash = createHash('sha256')
  const kept = new Uint8Array(keepsText ? bytes : Math.min(bytes, HEAD_BYTES))
  let size = 0
  // Of the bytes within the declared size, and of all.
  let crc = 0
  let wholeCrc = 0
  await unpack(source, member, (chunk) => {
    const room = Math.max(0, bytes - size)
    const within = chunk.subarray(0, room)
    kept.set(within.subarray(0, Math.max(0, kept.length - size)), Math.min(size, kept.length))
    size += chunk.length
    if (size > bytes + EXCESS_BYTES) reject('size_mismatch', { entry: path, limit: bytes })
    hash.update(within)
    crc = crc32(within, crc)
    wholeCrc = crc32(chunk.subarray(room), room > 0 ? crc : wholeCrc)
  })
  // Damaged data mostly has another size, too: a size is false only where the data is true.
  const isTrue = crc === member.crc32 || wholeCrc === member.crc32
  if (!isTrue) reject('bad_crc', { entry: path })
  if (size !== bytes) reject('size_mismatch', { entry: path, limit: bytes, value: size })
  const head = kept.subarray(0, HEAD_BYTES)
  return { sha256: hash.digest('hex'), head, text: keepsText ? kept : undefined }
}
