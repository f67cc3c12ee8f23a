/** Python's white space, which is not JavaScript's: U+001C to U+001F and U+0085 belong to it, U+FEFF does not. */
export const WHITESPACE =
  '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000'

const all = (members: string): RegExp => new RegExp(`^[${members}]+$`, 'u')

const SPACES = all(WHITESPACE)
const ALPHA = all('\\p{L}')
const ALNUM = all('\\p{L}\\p{N}')
const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u
// oxlint-disable-next-line no-control-regex -- ASCII begins at U+0000
const ASCII = /^[\0-\x7f]*$/

/** Every character is white space, and there is one. */
export const isSpace = (text: string): boolean => SPACES.test(text)
/** Every character is a digit of ASCII; of other texts it is unknown. */
export const isDigit = (text: string): boolean | undefined =>
  isAscii(text) ? /^[0-9]+$/.test(text) : undefined
/** Every character is a letter (category L), and there is one. */
export const isAlpha = (text: string): boolean => ALPHA.test(text)
/** Every character is a letter or numeric, and there is one. */
export const isAlnum = (text: string): boolean => ALNUM.test(text)
/** A name by its characters; keywords are not left out, as in Python. */
export const isIdentifier = (text: string): boolean => IDENTIFIER.test(text)
/** True for the empty text. */
export const isAscii = (text: string): boolean => ASCII.test(text)
