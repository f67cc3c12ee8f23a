import type { Entry } from '@zip.js/zip.js'
import type { ArchiveLimits } from './limits.ts'
import { findBrokenRule, pathOfName, segmentsOf } from './path-rules.ts'
import { reject } from './reject.ts'
import { crc32 } from 'node:zlib'

/** An entry of the directory after its own checks, before its content is read. */
export interface Member {
  /** As the archive spells it. */
  name: string
  /** The same with `/` between segments. */
  path: string
  isFolder: boolean
  /** Offset of its local header. */
  offset: number
  /** The least bytes it takes from there: header, name and packed data. */
  spanBytes: number
  isDeflated: boolean
  packedBytes: number
  bytes: number
  crc32: number
  /** Unix mode with its file type; 0 if the archive has none. */
  mode: number
  /** As the zip reader knows it. */
  source: Entry
}

/** Checks what a single record of the directory says. */
export const makeMember = (entry: Entry, limits: ArchiveLimits): Member => {
  const flags = entry.rawBitFlag ?? 0
  const name = readName({ bytes: entry.rawFilename, flags, extra: entry.extraField })
  const path = pathOfName(name, entry.versionMadeBy)
  checkPath(path, limits)
  const member = {
    name,
    path,
    isFolder: path.endsWith('/'),
    offset: entry.offset,
    spanBytes: LOCAL_HEADER_BYTES + entry.rawFilename.length + entry.compressedSize,
    isDeflated: entry.compressionMethod === DEFLATED,
    packedBytes: entry.compressedSize,
    bytes: entry.uncompressedSize,
    crc32: entry.crc32 ?? 0,
    mode: entry.externalFileAttributes >>> 16,
    source: entry,
  }
  checkPacking(entry, member)
  checkType(entry, member)
  checkSize(member, limits)
  return member
}

const checkPacking = (entry: Entry, { path }: Member): void => {
  const flags = entry.rawBitFlag ?? 0
  if (flags & ENCRYPTION_FLAGS || entry.extraFieldAES) reject('encrypted', { entry: path })
  const method = entry.compressionMethod
  if ((method !== STORED && method !== DEFLATED) || flags & PATCH_FLAG)
    reject('unsupported_method', { entry: path, value: method })
}

const checkType = (entry: Entry, { path, mode, isFolder, bytes }: Member): void => {
  const type = mode & TYPE_BITS
  if (type === SYMLINK) reject('symlink', { entry: path })
  if (type !== 0 && type !== FILE && type !== FOLDER)
    reject('special_file', { entry: path, value: `mode ${mode.toString(8)}` })
  const saysFolder = type === FOLDER || (entry.msDosCompatible && entry.msdosAttributes?.directory)
  if (saysFolder && !isFolder) reject('file_is_folder', { entry: path })
  if (isFolder && bytes > 0) reject('folder_with_data', { entry: path, limit: 0, value: bytes })
}

/** By what the directory declares; reading never goes beyond that. */
const checkSize = (member: Member, limits: ArchiveLimits): void => {
  const { path, bytes, packedBytes, isDeflated } = member
  if (bytes > limits.entryBytes)
    reject('entry_too_big', { entry: path, limit: limits.entryBytes, value: bytes })
  if (!isDeflated && bytes !== packedBytes)
    reject('size_mismatch', { entry: path, limit: bytes, value: packedBytes })
  const ratio = Math.ceil(bytes / Math.max(packedBytes, 1))
  if (bytes > limits.ratioFloorBytes && ratio > limits.entryRatio)
    reject('ratio', { entry: path, limit: limits.entryRatio, value: ratio })
}

const STORED = 0
const DEFLATED = 8
/** Encrypted; strongly encrypted; local headers masked (APPNOTE 4.4.4). */
const ENCRYPTION_FLAGS = 0x1 | 0x40 | 0x2000
const PATCH_FLAG = 0x20
const TYPE_BITS = 0o170000
const FILE = 0o100000
const FOLDER = 0o040000
const SYMLINK = 0o120000
const LOCAL_HEADER_BYTES = 30

/** Rejects a path that leaves the archive or that not every system can hold. A folder's path ends with a slash. */
export const checkPath = (path: string, limits: ArchiveLimits): void => {
  const broken = findBrokenRule(path)
  if (broken) reject(broken.code, { entry: path, ...(broken.found && { value: broken.found }) })
  checkLengths(path, limits)
}

/** A path as file systems that fold case and Unicode forms compare it; without the slash of a folder. */
export const foldPath = (path: string): string =>
  path.replace(/\/$/, '').normalize('NFC').toLowerCase().normalize('NFC')

const checkLengths = (path: string, limits: ArchiveLimits): void => {
  const segments = segmentsOf(path)
  const lengths: [number, number][] = [
    [Buffer.byteLength(path), limits.pathBytes],
    [segments.length, limits.segments],
    [Math.max(...segments.map((segment) => Buffer.byteLength(segment))), limits.segmentBytes],
  ]
  const over = lengths.find(([value, limit]) => value > limit)
  if (over) reject('path_too_long', { entry: path, limit: over[1], value: over[0] })
}

/** A name as one of the two headers of an entry holds it. */
interface RawName {
  bytes: Uint8Array
  /** General purpose flags of the entry. */
  flags: number
  /** Extra fields by their type. */
  extra: ReadonlyMap<number, { data: Uint8Array }> | undefined
}

/**
 * The text of a name: UTF-8 by its flag, else code page 437, as Python's zipfile reads it. A Unicode path
 * field (APPNOTE 4.6.9) replaces it for some tools and not for others, so it may only spell out a name that ASCII can't.
 */
export const readName = ({ bytes, flags, extra }: RawName): string => {
  const plain = flags & UTF8_FLAG ? decodeUtf8(bytes) : decodeCp437(bytes)
  const unicode = findUnicodePath(bytes, extra?.get(UNICODE_PATH))
  if (unicode === undefined || unicode === plain) return plain
  const hidesAnother = flags & UTF8_FLAG || isAscii(plain) || isAscii(unicode)
  return hidesAnother ? reject('header_mismatch', { entry: plain, value: unicode }) : unicode
}

const findUnicodePath = (
  name: Uint8Array,
  field: { data: Uint8Array } | undefined,
): string | undefined => {
  if (!field || field.data.length < UNICODE_PATH_BYTES || field.data[0] !== 1) return undefined
  const { buffer, byteOffset } = field.data
  // A tool that renames an entry without knowing the field leaves it behind; the checksum shows that.
  const belongs = new DataView(buffer, byteOffset).getUint32(1, true) === crc32(name)
  return belongs ? decodeUtf8(field.data.subarray(UNICODE_PATH_BYTES)) : undefined
}

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return reject('path_encoding', { entry: decodeCp437(bytes) })
  }
}

/**
 * Text in code page 437, which names without the UTF-8 flag have (APPNOTE D.1). Bytes below 128 stay ASCII, control
 * characters included, so that the checks see them; the code page has pictures there.
 */
const decodeCp437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : UPPER_HALF[byte - 128],
  ).join('')

const UPPER_HALF =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

// oxlint-disable-next-line no-control-regex -- ASCII begins with them
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text)

const UTF8_FLAG = 0x800
const UNICODE_PATH = 0x7075
/** A version byte and the CRC of the name before the path. */
const UNICODE_PATH_BYTES = 5
