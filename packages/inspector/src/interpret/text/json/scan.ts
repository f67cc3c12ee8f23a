/** Position of the reader, in UTF-16 units. */
export interface Cursor {
  text: string
  at: number
}

export type JsonAtom = null | boolean | bigint | number | string

/** CPython rejects ints of more digits. */
const MAX_DIGITS = 4300
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/sy
const WORDS: readonly (readonly [string, JsonAtom])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]

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

/** Reads a quoted text as JSON.parse does, like CPython; undefined for any other, and for one that is not closed. */
export const readJsonText = (cursor: Cursor): string | undefined => {
  const quoted = new RegExp(TEXT)
  quoted.lastIndex = cursor.at
  try {
    const found = quoted.exec(cursor.text)?.[0] ?? ''
    cursor.at += found.length
    return JSON.parse(found) as string
  } catch {
    return undefined
  }
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
