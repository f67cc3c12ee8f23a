import { isBytecode } from './magic-bytecode.ts'
import { isElf, isFatMachO, isMachO, isPe } from './magic-executable.ts'
import { isTar } from './magic-tar.ts'

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
