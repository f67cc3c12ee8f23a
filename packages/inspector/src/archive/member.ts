import type { Entry } from '@zip.js/zip.js'

import type { ArchiveLimits } from './limits.ts'
import { readName } from './name.ts'
import { checkPath } from './path-rules.ts'
import { reject } from './reject.ts'

/** An entry of the directory after its own checks, before its content is read. */
export interface Member {
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
  const path = readName({ bytes: entry.rawFilename, flags, extra: entry.extraField })
  checkPath(path, limits)
  const member = {
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
