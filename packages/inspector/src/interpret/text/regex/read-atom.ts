import { categoryTest, foldCase, ignoringCase, isWord, readCharacterEscape } from './escape.ts'
import { accept, hasFlag, reject } from './pattern.ts'
import type { CharacterTest, PatternNode, Reader } from './pattern.ts'
import { compareText } from '../string/code-points.ts'

/** One element that is no group: a character, `.`, a set, an escape, `^` or `$`. */
export const readAtom = (reader: Reader): PatternNode => {
  const character = reader.characters[reader.at] ?? ''
  reader.at += 1
  switch (character) {
    case '.':
      return any(hasFlag(reader, 'dotAll') ? () => true : (other) => other !== '\n')
    case '^':
      return hasFlag(reader, 'multiline') ? LINE_START : START
    case '$':
      return hasFlag(reader, 'multiline') ? LINE_END : LAST_LINE_END
    case '[':
      return any(readSet(reader))
    case '\\':
      return readEscape(reader)
    case '*':
    case '+':
    case '?':
      return reject('nothing to repeat')
    default:
      return literal(reader, character)
  }
}

const any = (matches: CharacterTest): PatternNode => ({ kind: 'character', matches })

const literal = (reader: Reader, character: string): PatternNode => {
  const isEqual: CharacterTest = (other) => other === character
  if (!hasFlag(reader, 'ignoreCase')) return any(isEqual)
  const fold = foldCase(hasFlag(reader, 'ascii'))
  const folded = fold(character)
  const same: CharacterTest = (other) => fold(other) === folded
  return any(ignoringCase(same, hasFlag(reader, 'ascii')))
}

const readEscape = (reader: Reader): PatternNode => {
  const letter = reader.characters[reader.at]
  if (letter === undefined) return reject('a backslash at the end')
  const ascii = hasFlag(reader, 'ascii')
  const category = categoryTest(letter, ascii)
  const place = category ? undefined : placeOf(letter, ascii)
  if (category !== undefined || place !== undefined) {
    reader.at += 1
    return category === undefined ? (place ?? START) : any(category)
  }
  const escape = readCharacterEscape(reader.characters, reader.at)
  if (escape === undefined) return reject('an escape without a meaning')
  reader.at = escape.end
  return literal(reader, escape.character)
}

const START: PatternNode = { kind: 'place', holds: (_, at) => at === 0 }
const END: PatternNode = { kind: 'place', holds: (text, at) => at === text.length }
const LINE_START: PatternNode = {
  kind: 'place',
  holds: (text, at) => at === 0 || text[at - 1] === '\n',
}
const LINE_END: PatternNode = {
  kind: 'place',
  holds: (text, at) => at === text.length || text[at] === '\n',
}
/** Without the flag `m` a last line feed may follow. */
const LAST_LINE_END: PatternNode = {
  kind: 'place',
  holds: (text, at) => at === text.length || (at === text.length - 1 && text[at] === '\n'),
}

const placeOf = (letter: string, ascii: boolean): PatternNode | undefined => {
  if (letter === 'A') return START
  if (letter === 'Z') return END
  if (letter !== 'b' && letter !== 'B') return undefined
  const isBorder = letter === 'b'
  return {
    kind: 'place',
    // CPython up to 3.13: in an empty text neither `\b` nor `\B` holds.
    holds: (text, at) =>
      text.length > 0 && (isWord(text[at - 1], ascii) !== isWord(text[at], ascii)) === isBorder,
  }
}

/** A set, its `[` being read: `[a-z_]`, `[^\d-]`, `[]x]`. */
const readSet = (reader: Reader): CharacterTest => {
  const negated = accept(reader, '^')
  const tests: CharacterTest[] = []
  for (let isFirst = true; isFirst || !accept(reader, ']'); isFirst = false) {
    tests.push(readMember(reader))
  }
  const inAny: CharacterTest = (character) => tests.some((test) => test(character))
  const test = hasFlag(reader, 'ignoreCase') ? ignoringCase(inAny, hasFlag(reader, 'ascii')) : inAny
  return negated ? (character) => !test(character) : test
}

const readMember = (reader: Reader): CharacterTest => {
  const low = readEnd(reader)
  const comesRange =
    reader.characters[reader.at] === '-' &&
    ![']', undefined].includes(reader.characters[reader.at + 1])
  if (typeof low !== 'string') return comesRange ? reject('a range from a category') : low
  if (!comesRange) return (character) => character === low
  reader.at += 1
  const high = readEnd(reader)
  if (typeof high !== 'string' || compareText(low, high) > 0) return reject('a wrong range')
  return (character) => compareText(low, character) <= 0 && compareText(character, high) <= 0
}

/** A single character, or a category. */
const readEnd = (reader: Reader): string | CharacterTest => {
  const character = reader.characters[reader.at]
  if (character === undefined) return reject('a set that is not closed')
  reader.at += 1
  if (character !== '\\') return character
  const letter = reader.characters[reader.at] ?? ''
  const category = categoryTest(letter, hasFlag(reader, 'ascii'))
  if (category !== undefined || letter === 'b') {
    reader.at += 1
    return category ?? '\b'
  }
  const escape = readCharacterEscape(reader.characters, reader.at)
  if (escape === undefined) return reject('an escape without a meaning')
  reader.at = escape.end
  return escape.character
}
