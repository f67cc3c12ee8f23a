/**
 * Compiled Python: a magic word, flags that exist, and a marshalled code object behind the header. Words and header
 * lengths: CPython, Lib/importlib/_bootstrap_external.py and PEP 552.
 */
export const isBytecode = (head: Buffer): boolean => {
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
