/** A tar header, known by its checksum: old ones have no magic word, and text can hold that word at its place. */
export const isTar = (head: Buffer): boolean => {
  if (head.length < HEADER_BYTES || head[0] === 0) return false
  const stored = /^ *([0-7]{1,7})[ \0]/.exec(head.toString('latin1', CHECKSUM_AT, CHECKSUM_END))
  return stored?.[1] !== undefined && Number.parseInt(stored[1], 8) === sumHeader(head)
}

/** Sum of the header's bytes, those of the checksum counted as blanks. */
const sumHeader = (head: Buffer): number => {
  const others = [head.subarray(0, CHECKSUM_AT), head.subarray(CHECKSUM_END, HEADER_BYTES)]
  const blanks = 0x20 * (CHECKSUM_END - CHECKSUM_AT)
  return others.flatMap((part) => [...part]).reduce((sum, byte) => sum + byte, blanks)
}

const HEADER_BYTES = 512
const CHECKSUM_AT = 148
const CHECKSUM_END = 156
