/**
 * The kind of a file by its first bytes, never by its name; undefined for text and all else. `head` should be the first
 * 4 KiB; `bytes` is the size of the whole file. A wheel is a `zip`: its beginning does not tell it from others.
 */
export const detectKind = (head: Uint8Array, bytes = head.length): BinaryKind | undefined => {
  const view = Buffer.from(head.buffer, head.byteOffset, head.length)
  const kinds = Object.keys(KINDS) as BinaryKind[]
  return kinds.find((kind) => KINDS[kind](view, bytes))
}

const begins =
  (...beginnings: string[]) =>
  (head: Buffer): boolean =>
    beginnings.some(
      (text) => head.length >= text.length && head.toString('latin1', 0, text.length) === text,
    )

const isGzipHeader = begins('\x1f\x8b\x08')
const isRiff = begins('RIFF')

/** Deflate is the only method there is, and the upper three flags are reserved (RFC 1952). */
const isGzip = (head: Buffer): boolean =>
  isGzipHeader(head) && head.length >= 10 && ((head[3] ?? 0) & 0xe0) === 0

const isWebp = (head: Buffer): boolean => isRiff(head) && begins('WEBP')(head.subarray(8))

/**
 * `MZ` and a PE header where the DOS header points. A header behind the known bytes counts if it lies in the file: a
 * long DOS stub must not hide it, and in text the pointer is four letters, far above any size.
 */
const isPe = (head: Buffer, bytes: number): boolean => {
  if (head.length < DOS_HEADER_BYTES || head.toString('latin1', 0, 2) !== 'MZ') return false
  const at = head.readUInt32LE(0x3c)
  if (at + 4 > bytes) return false
  return at + 4 > head.length || head.readUInt32LE(at) === PE_SIGNATURE
}

/** Magic, and class, byte order and version as the standard has them. */
const isElf = (head: Buffer): boolean =>
  head.length >= 16 &&
  head.readUInt32BE(0) === 0x7f454c46 &&
  isWithin(head.readUInt8(4), 1, 2) &&
  isWithin(head.readUInt8(5), 1, 2) &&
  head.readUInt8(6) === 1

/** Thin Mach-O of either width and byte order, with a file type that exists. */
const isMachO = (head: Buffer): boolean => {
  if (head.length < MACH_HEADER_BYTES) return false
  if (MACH_MAGICS.has(head.readUInt32BE(0))) return isWithin(head.readUInt32BE(12), 1, 12)
  return MACH_MAGICS.has(head.readUInt32LE(0)) && isWithin(head.readUInt32LE(12), 1, 12)
}

/**
 * Fat Mach-O. A Java class begins with the same four bytes; there the next number is its version, 45 or more, where a
 * fat file has its few architectures, the first of which must be known.
 */
const isFatMachO = (head: Buffer): boolean =>
  head.length >= FAT_HEADER_BYTES &&
  FAT_MAGICS.has(head.readUInt32BE(0)) &&
  isWithin(head.readUInt32BE(4), 1, 44) &&
  CPU_TYPES.has(head.readUInt32BE(8) & CPU_MASK)

const isWithin = (value: number, min: number, max: number): boolean => value >= min && value <= max

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

/** A tar header, known by its checksum: old ones have no magic word, and text can hold that word at its place. */
const isTar = (head: Buffer): boolean => {
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

/**
 * Compiled Python: a magic word, flags that exist, and a marshalled code object behind the header. Words and header
 * lengths: CPython, Lib/importlib/_bootstrap_external.py and PEP 552.
 */
const isBytecode = (head: Buffer): boolean => {
  const headerBytes = readHeaderBytes(head)
  if (headerBytes === undefined || head.length <= headerBytes) return false
  return CODE_OBJECTS.has(head.readUInt8(headerBytes))
}

/** True when it loads without a check of its source: hash-based and unchecked (PEP 552), unlike what Python writes. */
export const isUncheckedBytecode = (head: Uint8Array): boolean => {
  const view = Buffer.from(head.buffer, head.byteOffset, head.length)
  if (!isBytecode(view) || readHeaderBytes(view) !== FLAGGED_HEADER_BYTES) return false
  return view.readUInt32LE(4) === HASH_BASED
}

const readHeaderBytes = (head: Buffer): number | undefined => {
  if (head.length < 8 || head.readUInt16LE(2) !== RETURN_AND_FEED) return undefined
  const word = head.readUInt16LE(0)
  if (word >= 50_428 && word <= 62_999) return 8
  if (word >= 3000 && word < FIRST_SIZED) return 8
  if (word >= FIRST_SIZED && word < FIRST_FLAGGED) return 12
  if (word < FIRST_FLAGGED || word > 3999) return undefined
  return head.readUInt32LE(4) <= (HASH_BASED | CHECK_SOURCE) ? FLAGGED_HEADER_BYTES : undefined
}

/** The magic word is followed by `\r\n`, which a transfer as text would change. */
const RETURN_AND_FEED = 0x0a0d
/** Python 3.3 and later have the size of the source behind the time stamp. */
const FIRST_SIZED = 3210
/** Python 3.7 and later have a word of flags before time stamp and size, or hash. */
const FIRST_FLAGGED = 3392
const FLAGGED_HEADER_BYTES = 16
const HASH_BASED = 1
const CHECK_SOURCE = 2
/** Marshal's `c`, also with its reference bit. */
const CODE_OBJECTS = new Set([0x63, 0xe3])

/** In the order in which they are tried. */
const KINDS = {
  pe: isPe,
  elf: isElf,
  'mach-o': (head: Buffer) => isMachO(head) || isFatMachO(head),
  'python-bytecode': isBytecode,
  zip: begins('PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'),
  '7z': begins('7z\xbc\xaf\x27\x1c'),
  rar: begins('Rar!\x1a\x07\x00', 'Rar!\x1a\x07\x01\x00'),
  gzip: isGzip,
  png: begins('\x89PNG\r\n\x1a\n'),
  jpeg: begins('\xff\xd8\xff'),
  webp: isWebp,
  gif: begins('GIF87a', 'GIF89a'),
  tar: isTar,
}

export type BinaryKind = keyof typeof KINDS
