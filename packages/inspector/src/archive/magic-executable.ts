/**
 * `MZ` and a PE header where the DOS header points. A header behind the known bytes counts if it lies in the file: a
 * long DOS stub must not hide it, and in text the pointer is four letters, far above any size.
 */
export const isPe = (head: Buffer, bytes: number): boolean => {
  if (head.length < DOS_HEADER_BYTES || head.toString('latin1', 0, 2) !== 'MZ') return false
  const at = head.readUInt32LE(0x3c)
  if (at + 4 > bytes) return false
  return at + 4 > head.length || head.readUInt32LE(at) === PE_SIGNATURE
}

/** Magic, and class, byte order and version as the standard has them. */
export const isElf = (head: Buffer): boolean =>
  head.length >= 16 &&
  head.readUInt32BE(0) === 0x7f454c46 &&
  isWithin(head.readUInt8(4), 1, 2) &&
  isWithin(head.readUInt8(5), 1, 2) &&
  head.readUInt8(6) === 1

/** Thin Mach-O of either width and byte order, with a file type that exists. */
export const isMachO = (head: Buffer): boolean => {
  if (head.length < MACH_HEADER_BYTES) return false
  if (MACH_MAGICS.has(head.readUInt32BE(0))) return isWithin(head.readUInt32BE(12), 1, 12)
  return MACH_MAGICS.has(head.readUInt32LE(0)) && isWithin(head.readUInt32LE(12), 1, 12)
}

/**
 * Fat Mach-O. A Java class begins with the same four bytes; there the next number is its version, 45 or more, where a
 * fat file has its few architectures, the first of which must be known.
 */
export const isFatMachO = (head: Buffer): boolean =>
  head.length >= FAT_HEADER_BYTES &&
  FAT_MAGICS.has(head.readUInt32BE(0)) &&
  isWithin(head.readUInt32BE(4), 1, 44) &&
  CPU_TYPES.has(head.readUInt32BE(8) & CPU_MASK)

const isWithin = (value: number, least: number, most: number): boolean =>
  value >= least && value <= most

const DOS_HEADER_BYTES = 0x40
const PE_SIGNATURE = 0x00004550
const MACH_MAGICS = new Set([0xfeedface, 0xfeedfacf])
const MACH_HEADER_BYTES = 28
const FAT_MAGICS = new Set([0xcafebabe, 0xcafebabf])
/** The header and one architecture. */
const FAT_HEADER_BYTES = 28
/** x86, ARM, PowerPC; the upper byte says how wide. */
const CPU_TYPES = new Set([7, 12, 18])
const CPU_MASK = 0x00ffffff
