import { isBytecode } from './magic-bytecode.ts'
import { isElf, isFatMachO, isMachO, isPe } from './magic-executable.ts'
import { isTar } from './magic-tar.ts'

export type BinaryKind =
  | 'pe'
  | 'elf'
  | 'mach-o'
  | 'python-bytecode'
  | 'zip'
  | '7z'
  | 'rar'
  | 'gzip'
  | 'tar'
  | 'png'
  | 'jpeg'
  | 'webp'
  | 'gif'

/**
 * The kind of a file by its first bytes, never by its name; undefined for text and all else. `head` should be the first
 * 4 KiB; `bytes` is the size of the whole file. A wheel is a `zip`: its beginning does not tell it from others.
 */
export const detectKind = (head: Uint8Array, bytes = head.length): BinaryKind | undefined => {
  const view = Buffer.from(head.buffer, head.byteOffset, head.length)
  return KINDS.find(([, matches]) => matches(view, bytes))?.[0]
}

const begins =
  (...beginnings: string[]) =>
  (head: Buffer): boolean =>
    beginnings.some(
      (text) => head.length >= text.length && head.toString('latin1', 0, text.length) === text,
    )

const isZip = begins('PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08')
const isGzipHeader = begins('\x1f\x8b\x08')
const isRiff = begins('RIFF')

/** Deflate is the only method there is, and the upper three flags are reserved (RFC 1952). */
const isGzip = (head: Buffer): boolean =>
  isGzipHeader(head) && head.length >= 10 && ((head[3] ?? 0) & 0xe0) === 0

const isWebp = (head: Buffer): boolean => isRiff(head) && begins('WEBP')(head.subarray(8))

const KINDS: readonly [BinaryKind, (head: Buffer, bytes: number) => boolean][] = [
  ['pe', isPe],
  ['elf', isElf],
  ['mach-o', (head) => isMachO(head) || isFatMachO(head)],
  ['python-bytecode', isBytecode],
  ['zip', isZip],
  ['7z', begins('7z\xbc\xaf\x27\x1c')],
  ['rar', begins('Rar!\x1a\x07\x00', 'Rar!\x1a\x07\x01\x00')],
  ['gzip', isGzip],
  ['png', begins('\x89PNG\r\n\x1a\n')],
  ['jpeg', begins('\xff\xd8\xff')],
  ['webp', isWebp],
  ['gif', begins('GIF87a', 'GIF89a')],
  ['tar', isTar],
]
