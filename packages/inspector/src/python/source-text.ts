import { isUtf8 } from 'node:buffer'
import { words } from '../words.ts'

const COOKIE = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/
const BLANK_OR_COMMENT = /^[ \t\f]*(#.*)?$/
/** Python reads no cookie further along; a first line of megabytes must not cost anything here. */
const COOKIE_BYTES = 2048

/** Decodes bytes whose encoding has a name. */
type Decoder = (bytes: Uint8Array) => string

/** Python knows some 40 spellings of these three; here are the ones that source files have. */
const UTF8 = ['utf-8', 'utf8', 'utf-8-sig', 'u8', 'utf', 'cp65001', 'ascii', 'us-ascii', '646']
const LATIN1 = words('latin-1 latin1 latin l1 iso-8859-1 iso8859-1 iso8859 8859 cp819')
const CP1252 = ['cp1252', 'windows-1252', '1252']

/** Characters of Windows-1252 at 0x80 to 0x9f; a blank is a byte without a character, read as Latin-1 would. */
const CP1252_HIGH = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

/**
 * The text of a Python file as the interpreter reads it: in the encoding that one of the first two lines names
 * (PEP 263: UTF-8, Latin-1, Windows-1252 and whatever TextDecoder knows), else as UTF-8, a byte order mark left out and
 * U+FFFD for bytes that are wrong. Line ends become `\n`. Form feeds stay: at the start of a line they set the column
 * to 0, and the parser knows.
 */
export const decodeSource = (bytes: Uint8Array): string => {
  const name = findCookie(bytes)
  const decode = (name && findDecoder(name)) || decodeUtf8
  return decode(bytes).replace(/\r\n?/g, '\n')
}

/**
 * The encoding a file declares if it is none that `decodeSource` knows. Python may then run other code than the text
 * shows (`utf-7`, `rot13`, `unicode_escape`).
 */
export const findUnknownEncoding = (bytes: Uint8Array): string | undefined => {
  const name = findCookie(bytes)
  return name && findDecoder(name) === undefined ? name : undefined
}

/** Python rejects the file: bytes that are wrong in its encoding, if that is UTF-8. */
export const isUndecodable = (bytes: Uint8Array): boolean => {
  if (isUtf8(bytes)) return false
  const name = findCookie(bytes)
  return name === undefined || findDecoder(name) === decodeUtf8
}

const findCookie = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, COOKIE_BYTES)).toString('latin1')
  const [first = '', second = ''] = head.replace(/^ï»¿/, '').split(/\r\n?|\n/, 2)
  const line = BLANK_OR_COMMENT.test(first) && !COOKIE.test(first) ? second : first
  return COOKIE.exec(line)?.[1]
}

/** Python recognises `utf-8-unix` and the like by their beginning. */
const findDecoder = (name: string): Decoder | undefined => {
  const spelling = name.toLowerCase().replaceAll('_', '-')
  const isOf = (names: readonly string[]) =>
    names.includes(spelling) || spelling.startsWith(`${names[0]}-`)
  if (isOf(UTF8)) return decodeUtf8
  if (isOf(LATIN1) || spelling.startsWith('iso-8859-1-')) return decodeLatin1
  if (isOf(CP1252)) return decodeCp1252
  return findOtherDecoder(spelling)
}

/** Python has no source in UTF-16, and so a file that says it is can't be run. */
const findOtherDecoder = (label: string): Decoder | undefined => {
  if (label.startsWith('utf-16') || label === 'x-user-defined') return undefined
  try {
    const decoder = new TextDecoder(label)
    return decoder.encoding === 'replacement' ? undefined : (bytes) => decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const decodeUtf8: Decoder = (bytes) => new TextDecoder('utf-8').decode(bytes)

const decodeLatin1: Decoder = (bytes) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** By hand, because some releases of Node decode this one as Latin-1. */
const decodeCp1252: Decoder = (bytes) =>
  decodeLatin1(bytes).replace(/[\x80-\x9f]/g, (character) => {
    const decoded = CP1252_HIGH[character.charCodeAt(0) - 0x80]
    return decoded === undefined || decoded === ' ' ? character : decoded
  })
