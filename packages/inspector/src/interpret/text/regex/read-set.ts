import { compareText } from '../string/code-points.ts'
import { categoryTest, ignoringCase } from './character-class.ts'
import { readCharacterEscape, readOctal } from './escape.ts'
import type { CharacterTest } from './pattern.ts'
import { accept, hasFlag, reject } from './reader.ts'
import type { Reader } from './reader.ts'

/** A set, its `[` being read: `[a-z_]`, `[^\d-]`, `[]x]`. */
export const readSet = (reader: Reader): CharacterTest => {
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
  const escape = /^[0-7]$/.test(letter)
    ? readOctal(reader.characters, reader.at)
    : readCharacterEscape(reader.characters, reader.at)
  if (escape === undefined) return reject('an escape without a meaning')
  reader.at = escape.end
  return escape.character
}
