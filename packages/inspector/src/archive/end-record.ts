import type { ArchiveLimits } from './limits.ts'
import { reject } from './reject.ts'
import { readView, type RandomAccess } from './source.ts'

/** Place of the central directory, by the end record. */
export interface DirectoryPlace {
  entries: number
  offset: number
  bytes: number
}

/**
 * Reads the end record (APPNOTE 4.3.16), its zip64 companions and the first bytes, and rejects what would make two
 * tools see two different archives. Runs before the directory is touched: reading a directory of 200,000 entries only
 * to reject it cost 10.6 s and 305 MB.
 */
export const readEndRecord = async (
  source: RandomAccess,
  limits: ArchiveLimits,
): Promise<DirectoryPlace> => {
  if (source.size > limits.archiveBytes)
    reject('archive_too_big', { limit: limits.archiveBytes, value: source.size })
  const first = await readFirstWord(source)
  if (first === SPANNED) reject('multi_disk')
  const beginsAsZip = first === LOCAL_HEADER || first === END_RECORD
  const at = await findEndRecord(source, limits.commentBytes, beginsAsZip)
  const end = await readEnd(source, at)
  if (end.entries > limits.entries)
    reject('too_many_entries', { limit: limits.entries, value: end.entries })
  if (end.bytes > limits.directoryBytes)
    reject('directory_too_big', { limit: limits.directoryBytes, value: end.bytes })
  await checkPlace(source, end)
  if (!beginsAsZip) reject('prepended_data')
  return { entries: end.entries, offset: end.offset, bytes: end.bytes }
}

const readFirstWord = async (source: RandomAccess): Promise<number | undefined> =>
  source.size < 4 ? undefined : (await readView(source, 0, 4)).getUint32(0, true)

/**
 * Place of the end record. Readers look for its signature from the end backwards, so the last one must be it, and no
 * earlier one may reach the end of the archive too.
 */
const findEndRecord = async (
  source: RandomAccess,
  commentLimit: number,
  beginsAsZip: boolean,
): Promise<number> => {
  const length = Math.min(source.size, END_BYTES + MAX_16)
  const tail = Buffer.from(await source.read(source.size - length, length))
  const at = length < END_BYTES ? -1 : tail.lastIndexOf(END_SIGNATURE, length - END_BYTES)
  if (at < 0) return reject(beginsAsZip ? 'truncated' : 'not_a_zip')
  const beyond = bytesBeyond(tail, at)
  if (beyond !== 0 && !beginsAsZip) reject('not_a_zip')
  if (beyond < 0) reject('truncated')
  if (beyond > 0) reject('trailing_data', { limit: 0, value: beyond })
  const comment = length - at - END_BYTES
  if (comment > commentLimit) reject('trailing_data', { limit: commentLimit, value: comment })
  for (let other = at; other > 0;) {
    other = tail.lastIndexOf(END_SIGNATURE, other - 1)
    if (other >= 0 && bytesBeyond(tail, other) === 0) reject('ambiguous_end')
  }
  return source.size - length + at
}

/** Bytes of the tail after the record and its comment; negative if the comment is cut. */
const bytesBeyond = (tail: Buffer, at: number): number =>
  tail.length - at - END_BYTES - tail.readUInt16LE(at + 20)

interface End extends DirectoryPlace {
  /** Offset at which the records of the end begin: the directory must reach up to here. */
  start: number
}

const readEnd = async (source: RandomAccess, at: number): Promise<End> => {
  const view = await readView(source, at, END_BYTES)
  const plain = {
    disk: view.getUint16(4, true),
    directoryDisk: view.getUint16(6, true),
    diskEntries: view.getUint16(8, true),
    entries: view.getUint16(10, true),
    bytes: view.getUint32(12, true),
    offset: view.getUint32(16, true),
  }
  const zip64 = await findZip64End(source, at, plain)
  const { disk, directoryDisk, diskEntries, ...place } = zip64 ?? { ...plain, start: at }
  if (disk !== 0 || directoryDisk !== 0 || diskEntries !== place.entries) reject('multi_disk')
  return place
}

/** The directory must fill the place between its offset and the end, and hold as many entries as there is room for. */
const checkPlace = async (source: RandomAccess, end: End): Promise<void> => {
  const gap = end.start - end.offset - end.bytes
  if (gap < 0 || end.bytes < end.entries * DIRECTORY_HEADER_BYTES) reject('malformed')
  if (gap > 0) reject((await isShifted(source, end)) ? 'prepended_data' : 'malformed')
  if (end.entries > 0) return
  if (end.bytes > 0) reject('malformed')
  if (end.start > 0) reject('prepended_data', { limit: 0, value: end.start })
}

/** True when the directory lies before the end as it should and only its offset counts from elsewhere. */
const isShifted = async (source: RandomAccess, end: End): Promise<boolean> => {
  const at = end.start - end.bytes
  if (end.bytes < 4) return true
  return (await readView(source, at, 4)).getUint32(0, true) === DIRECTORY_HEADER
}

const LOCAL_HEADER = 0x04034b50
const END_RECORD = 0x06054b50
/** Begins the first part of an archive of several (APPNOTE 8.5.3). */
const SPANNED = 0x08074b50
const DIRECTORY_HEADER = 0x02014b50
const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1')
const END_BYTES = 22
const DIRECTORY_HEADER_BYTES = 46
const MAX_16 = 0xffff

/** Numbers of an end record, plain or zip64. */
interface EndNumbers {
  disk: number
  directoryDisk: number
  diskEntries: number
  entries: number
  bytes: number
  offset: number
}

/**
 * The numbers of the zip64 end record (APPNOTE 4.3.14) if its locator lies before the plain one, and where it starts.
 * Some tools write both though the plain one would do; then they must agree. Where the plain one has no room (all bits
 * set) and no zip64 record follows, the number stands as it is and the limits apply to it.
 */
const findZip64End = async (
  source: RandomAccess,
  endAt: number,
  plain: EndNumbers,
): Promise<(EndNumbers & { start: number }) | undefined> => {
  const start = endAt - LOCATOR_BYTES - RECORD_BYTES
  if (endAt < LOCATOR_BYTES) return undefined
  const locator = await readView(source, endAt - LOCATOR_BYTES, LOCATOR_BYTES)
  if (locator.getUint32(0, true) !== LOCATOR) return undefined
  if (locator.getUint32(4, true) !== 0 || locator.getUint32(16, true) > 1) reject('multi_disk')
  if (start < 0) return reject('malformed')
  const record = await readView(source, start, RECORD_BYTES)
  // Another length means extensible data: an encrypted directory, or something nobody reads.
  if (record.getUint32(0, true) !== RECORD || readNumber(record, 4) !== RECORD_BYTES - 12)
    reject('malformed')
  const located = readNumber(locator, 8)
  if (located !== start) reject(located < start ? 'prepended_data' : 'malformed')
  return { ...merge(plain, readNumbers(record)), start }
}

const readNumbers = (record: DataView): EndNumbers => ({
  disk: record.getUint32(16, true),
  directoryDisk: record.getUint32(20, true),
  diskEntries: readNumber(record, 24),
  entries: readNumber(record, 32),
  bytes: readNumber(record, 40),
  offset: readNumber(record, 48),
})

const merge = (plain: EndNumbers, long: EndNumbers): EndNumbers => {
  for (const [name, max] of MAX) {
    const differs = plain[name] !== long[name]
    if (differs && plain[name] !== max) reject('malformed')
  }
  return long
}

const readNumber = (view: DataView, at: number): number => {
  const value = view.getBigUint64(at, true)
  return value > Number.MAX_SAFE_INTEGER ? reject('malformed') : Number(value)
}

/** Numbers of the plain record that mean that only the zip64 one has room. */
const MAX = [
  ['disk', 0xffff],
  ['directoryDisk', 0xffff],
  ['diskEntries', 0xffff],
  ['entries', 0xffff],
  ['bytes', 0xffffffff],
  ['offset', 0xffffffff],
] as const
const LOCATOR = 0x07064b50
const RECORD = 0x06064b50
const LOCATOR_BYTES = 20
const RECORD_BYTES = 56
