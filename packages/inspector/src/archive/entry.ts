import type { ArchiveFile } from '../inspection.ts'
import { words } from '../words.ts'

/**
 * One file of an archive after it was read. Folders are no entries. Text kinds (`isTextKind`) keep their bytes within
 * the caps; of all others only path, size, digest and head stay.
 */
export interface ArchiveEntry {
  /** Path within the archive: `/` between segments, no leading one. */
  path: string
  /** Unpacked size. */
  bytes: number
  /** SHA-256 of the content, in lower-case hex. */
  sha256: string
  /** The first 4 KiB of the content. */
  head: Uint8Array
  /** The whole content of a text kind; undefined for other kinds and for what is above a cap. */
  text: Uint8Array | undefined
  /** Permission bits (0o755) if the archive says them. */
  mode: number | undefined
  /** Place of its packed data; undefined for a file of a folder. */
  place?: Pick<ArchiveFile, 'dataOffset' | 'packedBytes' | 'isDeflated'>
  /** True when anybody may execute it, as far as the mode is known. */
  executable: boolean
}

/** Bytes of an entry that `head` keeps: enough for every magic number, a PE header behind its stub included. */
export const HEAD_BYTES = 4096

/** True when a path names a kind of text whose content is kept for interpreter and scan. */
export const isTextKind = (path: string): boolean =>
  TEXT_KINDS.has(extensionOf(path.replace(TEMPLATE, '')))

/** Suffixes that packs give a data file that they copy at their first start: `styles.json.default`. */
const TEMPLATE = /\.(?:default|dist|example|sample|template|bak)$/i

/** Extension of the last segment in lower case with its dot (`.py`); '' if it has none. */
export const extensionOf = (path: string): string =>
  /(?<=[^/])\.[^./]*$/.exec(path)?.[0].toLowerCase() ?? ''

const TEXT_KINDS = new Set(
  words('.py .pyi .json .toml .txt .cfg .ini .csv .tsv .yaml .yml .md .js .mjs .sh .bat .ps1'),
)
