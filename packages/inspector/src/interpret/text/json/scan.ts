/** Where the reader stands, in UTF-16 units. */
export interface Cursor {
  text: string
  at: number
}

export type JsonAtom = null | boolean | bigint | number | string

/** CPython refuses ints of more digits. */
const MAX_DIGITS = 4300
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/
// oxlint-disable-next-line no-control-regex -- JSON refuses control characters
const SPECIAL = /["\\\0-\x1f]/
const WORDS: readonly (readonly [string, JsonAtom])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]
const ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** Past blank, tab, line feed and carriage return. */
export const skipSpace = (cursor: Cursor): void => {
  for (; ; cursor.at += 1) {
    const unit = cursor.text.charCodeAt(cursor.at)
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
  }
}

/** A text, number or word; undefined if there is none. */
export const readJsonAtom = (cursor: Cursor): JsonAtom | undefined => {
  if (cursor.text.charAt(cursor.at) === '"') return readJsonText(cursor)
  const word = WORDS.find(([name]) => cursor.text.startsWith(name, cursor.at))
  if (word === undefined) return readNumber(cursor)
  cursor.at += word[0].length
  return word[1]
}

/** A quoted text; undefined for any other, and for one that is not closed. */
export const readJsonText = (cursor: Cursor): string | undefined => {
  const { text } = cursor
  if (text.charAt(cursor.at) !== '"') return undefined
  const special = new RegExp(SPECIAL, 'g')
  const pieces: string[] = []
  for (let start = cursor.at + 1; ;) {
    special.lastIndex = start
    const found = special.exec(text)
    if (found === null || found[0] < ' ') return undefined
    pieces.push(text.slice(start, found.index))
    cursor.at = found.index + 1
    if (found[0] === '"') return pieces.join('')
    const escaped = readEscape(cursor)
    if (escaped === undefined) return undefined
    pieces.push(escaped)
    start = cursor.at
  }
}

/** Behind a backslash. Two halves of a surrogate pair join by standing side by side. */
const readEscape = (cursor: Cursor): string | undefined => {
  const letter = cursor.text.charAt(cursor.at)
  cursor.at += 1
  if (letter !== 'u') return ESCAPES.get(letter)
  const hex = cursor.text.slice(cursor.at, cursor.at + 4)
  cursor.at += 4
  return /^[0-9a-fA-F]{4}$/.test(hex) ? String.fromCharCode(parseInt(hex, 16)) : undefined
}

const readNumber = (cursor: Cursor): bigint | number | undefined => {
  const number = new RegExp(NUMBER, 'y')
  number.lastIndex = cursor.at
  const match = number.exec(cursor.text)
  if (match === null) return undefined
  const [text, fraction, exponent] = match
  cursor.at += text.length
  if (fraction !== undefined || exponent !== undefined) return Number(text)
  return text.replace('-', '').length > MAX_DIGITS ? undefined : BigInt(text)
}
