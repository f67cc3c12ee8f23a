import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'

import type { PlacedMember } from './directory.ts'
import { HEAD_BYTES } from './entry.ts'
import { reject } from './reject.ts'
import type { RandomAccess } from './source.ts'
import { unpack } from './unpack.ts'

/** What reading one entry gave. */
interface Content {
  sha256: string
  head: Uint8Array
  text: Uint8Array | undefined
}

/**
 * Reads one entry piece by piece, checks its size and CRC against the directory and keeps its head, or all of it if
 * `keepsText`. It stops at the first byte above the declared size: no more is ever unpacked than the limits let an
 * entry declare.
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
  let crc = 0
  await unpack(source, member, (chunk) => {
    if (size < kept.length) kept.set(chunk.subarray(0, kept.length - size), size)
    size += chunk.length
    if (size > bytes) reject('size_mismatch', { entry: path, limit: bytes })
    hash.update(chunk)
    crc = crc32(chunk, crc)
  })
  if (size < bytes) reject('size_mismatch', { entry: path, limit: bytes, value: size })
  if (crc !== member.crc32) reject('bad_crc', { entry: path })
  const head = kept.subarray(0, HEAD_BYTES)
  return { sha256: hash.digest('hex'), head, text: keepsText ? kept : undefined }
}
