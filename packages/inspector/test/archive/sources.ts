import type { RandomAccess } from '../../src/archive/source.ts'

/** Bytes in memory as a source. */
export const makeBytesSource = (bytes: Uint8Array): RandomAccess => ({
  size: bytes.byteLength,
  read: (offset, length) => Promise.resolve(bytes.slice(offset, offset + length)),
})

/** Source that records what was read of it. */
export interface WatchedSource extends RandomAccess {
  reads: { offset: number; length: number }[]
}

export const watchSource = (source: RandomAccess): WatchedSource => {
  const reads: WatchedSource['reads'] = []
  return {
    size: source.size,
    reads,
    read: (offset, length) => {
      reads.push({ offset, length })
      return source.read(offset, length)
    },
  }
}

/** Pieces one behind another, each bytes or a number of zeros that are never all in memory. */
export const makeSparseSource = (pieces: readonly (Uint8Array | number)[]): RandomAccess => {
  const lengths = pieces.map((piece) => (typeof piece === 'number' ? piece : piece.length))
  return {
    size: lengths.reduce((sum, length) => sum + length, 0),
    read: (offset, length) => {
      const bytes = new Uint8Array(length)
      let start = 0
      for (const [index, piece] of pieces.entries()) {
        if (typeof piece !== 'number') copyOverlap(piece, start - offset, bytes)
        start += lengths[index] ?? 0
      }
      return Promise.resolve(bytes)
    },
  }
}

const copyOverlap = (piece: Uint8Array, at: number, into: Uint8Array): void => {
  const from = Math.max(0, -at)
  const to = Math.min(piece.length, into.length - at)
  if (from < to) into.set(piece.subarray(from, to), at + from)
}
