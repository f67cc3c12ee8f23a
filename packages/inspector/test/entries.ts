import { HEAD_BYTES, isTextKind } from '../src/archive/entry.ts'
import type { ArchiveEntry } from '../src/archive/entry.ts'
import { ARCHIVE_LIMITS } from '../src/archive/limits.ts'

/** Contents by path. */
export type Files = Record<string, string | Uint8Array>

/** Entries of an archive, as its reader gives them. */
export const entriesOf = (files: Files): ArchiveEntry[] =>
  Object.entries(files).map(([path, content]) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    return {
      path,
      bytes: bytes.length,
      sha256: '0'.repeat(64),
      head: bytes.subarray(0, HEAD_BYTES),
      text: isTextKind(path) && bytes.length <= ARCHIVE_LIMITS.textBytes ? bytes : undefined,
      mode: undefined,
      executable: false,
    }
  })
