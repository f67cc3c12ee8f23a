import type { DirectoryPlace } from './end-record.ts'
import type { RandomAccess } from './source.ts'

/**
 * Puts the plainest end record behind the directory of an archive. The zip reader looks for an end record by itself,
 * and with this one it can't come to another reading than ours. It also takes archives whose zip64 record nobody
 * needs, as Info-ZIP writes them to a pipe.
 */
export const withPlainEnd = (source: RandomAccess, place: DirectoryPlace): RandomAccess => {
  const end = writeEnd(place)
  const endAt = place.offset + place.bytes
  const size = endAt + end.length
  return {
    size,
    read: async (offset, length) => {
      const from = Math.min(offset, size)
      const to = Math.min(from + length, size)
      const own = from < endAt ? await source.read(from, Math.min(to, endAt) - from) : EMPTY
      if (to <= endAt) return own
      return Buffer.concat([own, end.subarray(Math.max(from - endAt, 0), to - endAt)])
    },
  }
}

const writeEnd = ({ entries, offset, bytes }: DirectoryPlace): Buffer => {
  const record = Buffer.alloc(22)
  record.write('PK\x05\x06', 'latin1')
  record.writeUInt16LE(entries, 8)
  record.writeUInt16LE(entries, 10)
  record.writeUInt32LE(bytes, 12)
  record.writeUInt32LE(offset, 16)
  return record
}

const EMPTY = new Uint8Array()
