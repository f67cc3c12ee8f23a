import { WHITESPACE } from '../string/classes.ts'
import type { CharacterTest, Fold } from './pattern.ts'

const CONTROLS = new Map([
  ['a', '\x07'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
])
const HEX_LENGTHS = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])

/**
 * The character that an escape stands for (`at` is behind the backslash), and where it ends. Undefined for what Python
 * rejects: a letter of ASCII without a meaning, hexadecimal digits that are missing.
 */
export const readCharacterEscape = (
  characters: readonly string[],
  at: number,
): { character: string; end: number } | undefined => {
  const letter = characters[at]
  if (letter === undefined) return undefined
  const control = CONTROLS.get(letter)
  if (control !== undefined) return { character: control, end: at + 1 }
  const hexLength = HEX_LENGTHS.get(letter)
  if (hexLength !== undefined) return readCode(characters, at + 1, hexLength)
  return /^[A-Za-z0-9]$/.test(letter) ? undefined : { character: letter, end: at + 1 }
}

const readCode = (characters: readonly string[], at: number, length: number) => {
  const hex = characters.slice(at, at + length).join('')
  const code = parseInt(hex, 16)
  return hex.length === length && /^[0-9a-fA-F]+$/.test(hex) && code <= 0x10ffff
    ? { character: String.fromCodePoint(code), end: at + length }
    : undefined
}

const DIGIT = /^\p{Nd}$/u
const WORD = /^[\p{L}\p{N}_]$/u
const SPACE = new RegExp(`^[${WHITESPACE}]$`)
const ASCII_DIGIT = /^[0-9]$/
const ASCII_WORD = /^[A-Za-z0-9_]$/
const ASCII_SPACE = /^[ \t\n\r\f\v]$/

/** `\d`, `\w`, `\s` and their opposites; undefined for another letter. */
export const categoryTest = (letter: string, ascii: boolean): CharacterTest | undefined => {
  const set = SETS.get(letter.toLowerCase())
  if (set === undefined) return undefined
  const expression = ascii ? set.ascii : set.unicode
  const negated = letter !== letter.toLowerCase()
  return (character) => expression.test(character) !== negated
}

/** True when the character belongs to a word, for `\b`. */
export const isWord = (character: string | undefined, ascii: boolean): boolean =>
  character !== undefined && (ascii ? ASCII_WORD : WORD).test(character)

/** Makes the fold that characters of either case share. With `ascii` only the letters of ASCII have cases. */
export const foldCase = (ascii: boolean): Fold =>
  ascii
    ? (character) => (character <= '\x7f' ? character.toLowerCase() : character)
    : (character) => {
        const upper = character.toUpperCase()
        const single = Array.from(upper).length === 1 ? upper : character
        const lower = single.toLowerCase()
        return Array.from(lower).length === 1 ? lower : single
      }

/** A test that holds for a character if it holds for it in either case. */
export const ignoringCase = (test: CharacterTest, ascii: boolean): CharacterTest => {
  const fold = foldCase(ascii)
  return (character) => {
    if (test(character)) return true
    if (ascii && character > '\x7f') return false
    return test(fold(character)) || test(character.toLowerCase()) || test(character.toUpperCase())
  }
}

const SETS = new Map([
  ['d', { unicode: DIGIT, ascii: ASCII_DIGIT }],
  ['w', { unicode: WORD, ascii: ASCII_WORD }],
  ['s', { unicode: SPACE, ascii: ASCII_SPACE }],
])
