import type { ArchiveCode, RejectionDetail } from './reject.ts'
import type { ArchiveEntry } from './entry.ts'

export type ArchiveResult = SoundArchive | RejectedArchive

export interface SoundArchive {
  verdict: 'sound'
  /** Its files, sorted by code unit of their paths. Nested archives are among them, never opened. */
  entries: readonly ArchiveEntry[]
  /** Unusual things that are no reason to reject. */
  facts: readonly ArchiveFact[]
  /** Size of the archive. */
  bytes: number
  /** Size of all its files. */
  unpackedBytes: number
}

export interface RejectedArchive extends RejectionDetail {
  verdict: 'rejected'
  code: ArchiveCode
  /** One sentence that its publisher can act on. */
  message: string
}

export type ArchiveFact = NameCollision | NestedArchive

/** A file that differs from another only by case or Unicode form, with the same content; left out of the entries. */
export interface NameCollision {
  kind: 'name_collision'
  path: string
  /** The path of the other, which stays. */
  kept: string
}

export interface NestedArchive {
  kind: 'nested_archive'
  path: string
  format: NestedFormat
}

export type NestedFormat = 'zip' | 'tar' | '7z' | 'rar'
