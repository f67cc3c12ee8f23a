import * as zip from '@zip.js/zip.js'
import type { EntryError } from '@zip.js/zip.js'

import type { ArchiveCode } from './codes.ts'
import { ArchiveRejection, reject } from './reject.ts'
import { SourceError } from './source.ts'

/** Throws what the zip reader threw as a rejection; our own rejections and failed reads as they are. */
export const throwRejection: ThrowRejection = (error, entry) => {
  if (error instanceof ArchiveRejection || error instanceof SourceError) throw error
  reject(error instanceof Error ? codeOf(error) : 'malformed', entry === undefined ? {} : { entry })
}

type ThrowRejection = (error: unknown, entry?: string) => never

const codeOf = (error: EntryError): ArchiveCode =>
  CODES.get(error.reason ?? error.message) ?? 'malformed'

/** Errors with a code of their own; every other one is `malformed`. */
const CODES = new Map<string, ArchiveCode>([
  [zip.ERR_ENCRYPTED_CENTRAL_DIRECTORY, 'encrypted'],
  [zip.ERR_SPLIT_ZIP_FILE, 'multi_disk'],
  [zip.ERR_LOCAL_FILE_HEADER_NOT_FOUND, 'header_mismatch'],
  [zip.ERR_OVERLAPPING_ENTRY, 'overlap'],
  [zip.ERR_ENTRY_DATA_OUT_OF_BOUNDS, 'overlap'],
  [zip.WARNING_PREPENDED_DATA, 'prepended_data'],
  [zip.WARNING_DUPLICATE_FILENAME, 'duplicate_name'],
  [zip.WARNING_MISMATCHED_LOCAL_FILE_HEADER_FILENAME, 'header_mismatch'],
  [zip.WARNING_MISMATCHED_LOCAL_FILE_HEADER_BIT_FLAG, 'header_mismatch'],
  [zip.WARNING_MISMATCHED_LOCAL_FILE_HEADER_COMPRESSION_METHOD, 'header_mismatch'],
  [zip.WARNING_MISMATCHED_LOCAL_FILE_HEADER_CRC32_OR_SIZES, 'header_mismatch'],
])
