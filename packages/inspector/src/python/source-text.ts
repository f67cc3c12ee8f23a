import { isUtf8 } from 'node:buffer'
import { words } from '../words.ts'
import type { Expression, Module, Statement } from './ast.ts'
import { nodesWithin } from './nodes-within.ts'
import type { PythonSyntaxError } from './syntax-errors.ts'

const COOKIE = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/
const BLANK_OR_COMMENT = /^[ \t\f]*(#.*)?$/
/** Python reads no cookie further along; a first line of megabytes must not cost anything here. */
const COOKIE_BYTES = 2048

/** Decodes bytes whose encoding has a name. */
type Decoder = (bytes: Uint8Array) => string

/** Python knows some 40 spellings of these three; here are the ones that source files have. */
const UTF8 = ['utf-8', 'utf8', 'utf-8-sig', 'u8', 'utf', 'cp65001']
const ASCII = ['ascii', 'us-ascii', '646']
const LATIN1 = words('latin-1 latin1 latin l1 iso-8859-1 iso8859-1 iso8859 8859 cp819')
const CP1252 = ['cp1252', 'windows-1252', '1252']

/** Characters of Windows-1252 at 0x80 to 0x9f; a blank is a byte without a character. */
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

/**
 * The first bytes over which CPython rejects a file: any that are wrong in the encoding that it declares, but for UTF-8,
 * where comments may have them.
 */
export const findWrongBytes = (bytes: Uint8Array, tree: Module): PythonSyntaxError | undefined => {
  const name = findCookie(bytes)
  const decode = name === undefined ? decodeUtf8 : findDecoder(name)
  if (decode && decode !== decodeUtf8) {
    const at = tree.text.split('\n').findIndex(isWrong)
    return at < 0 ? undefined : { line: at + 1, message: `not ${name}, the encoding it declares` }
  }
  if (isUtf8(bytes)) return undefined
  for (const node of nodesWithin(tree.body))
    if (textsOf(node).some(isWrong))
      return { line: node.line, message: 'not UTF-8, and no other encoding is declared' }
  return undefined
}

const isWrong = (text: unknown): boolean => typeof text === 'string' && text.includes(WRONG)

const textsOf = (node: Statement | Expression): readonly unknown[] => {
  if (node.kind === 'JoinedStr') return node.values
  return node.kind === 'Constant' ? [node.value] : []
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
  if (isOf(ASCII)) return decodeAscii
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

/** Takes the place of bytes that are wrong. */
const WRONG = '\ufffd'

const decodeAscii: Decoder = (bytes) => decodeLatin1(bytes).replace(/[\x80-\xff]/g, WRONG)

/** By hand, because some releases of Node decode this one as Latin-1. */
const decodeCp1252: Decoder = (bytes) =>
  decodeLatin1(bytes).replace(/[\x80-\x9f]/g, (character) => {
    const decoded = CP1252_HIGH[character.charCodeAt(0) - 0x80]
    return decoded === undefined || decoded === ' ' ? WRONG : decoded
  })
