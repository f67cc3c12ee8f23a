import type { ArchiveCode } from '../../../src/archive/reject.ts'
import type { ArchiveLimits } from '../../../src/archive/limits.ts'
import { writeZip, type EntryForm } from '../../../../../test/support/zip-writer.ts'

/** An archive that must be rejected. */
export interface RejectionCase {
  /** Issue that it has. */
  title: string
  zip: () => Buffer
  code: ArchiveCode
  /** Part of the entry that the result names. */
  entry?: string
  limits?: Partial<ArchiveLimits>
}

/** Archive with an issue; with the entry that is named, or other limits. */
type Rejected = (() => Buffer) | Omit<RejectionCase, 'title' | 'code'>

/** Archives that are rejected for one reason. */
export const rejected = (
  code: ArchiveCode,
  archives: Readonly<Record<string, Rejected>>,
): RejectionCase[] =>
  Object.entries(archives).map(([title, one]) => ({
    title,
    code,
    ...(typeof one === 'function' ? { zip: one } : one),
  }))

export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** The file that every pack has. */
export const init: EntryForm = { name: '__init__.py', data: 'NODE_CLASS_MAPPINGS = {}\n' }

/** An archive with a file of that name beside the usual one. */
export const named = (name: string | Uint8Array): Buffer => writeZip([init, { name, data: 'x' }])

/** An archive with other bytes at a place, counted from its end if negative. */
export const changed = (zip: Buffer, at: number, ...values: number[]): Buffer => {
  const copy = Buffer.from(zip)
  copy.set(values, at < 0 ? zip.length + at : at)
  return copy
}

export const cut = (zip: Buffer, from: number, to?: number): Buffer =>
  Buffer.from(zip.subarray(from, to))
