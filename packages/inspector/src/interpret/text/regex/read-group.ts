import { isIdentifier } from '../string/classes.ts'
import { REGEX_FLAGS, widthOf } from './pattern.ts'
import type { PatternNode } from './pattern.ts'
import { referTo } from './read-atom.ts'
import { accept, expect, peek, readUntil, refuse } from './reader.ts'
import type { Reader } from './reader.ts'

const LETTERS = new Map<string, number>([
  ['a', REGEX_FLAGS.ascii],
  ['i', REGEX_FLAGS.ignoreCase],
  ['m', REGEX_FLAGS.multiline],
  ['s', REGEX_FLAGS.dotAll],
  ['u', REGEX_FLAGS.unicode],
  ['x', REGEX_FLAGS.verbose],
])
const LOOKS = [
  { text: '(?=', behind: false, negated: false },
  { text: '(?!', behind: false, negated: true },
  { text: '(?<=', behind: true, negated: false },
  { text: '(?<!', behind: true, negated: true },
]

/** Reads the inside of a group; given by the caller, which reads groups itself. */
type ReadBody = (reader: Reader) => PatternNode

/** `(?ims)` at the very start, which holds for the whole pattern. */
export const readGlobalFlags = (reader: Reader): void => {
  const match = /^\(\?([aimsux]+)\)/.exec(reader.characters.join(''))
  if (match === null) return
  const [whole, letters = ''] = match
  reader.at = whole.length
  reader.flags |= flagsOf(letters)
}

/** Anything in round brackets; undefined for a comment. */
export const readGroup = (reader: Reader, readBody: ReadBody): PatternNode | undefined => {
  if (accept(reader, '(?#')) {
    readUntil(reader, ')')
    return undefined
  }
  for (const look of LOOKS) if (accept(reader, look.text)) return readLook(reader, readBody, look)
  if (accept(reader, '(?:')) return bodyOf(reader, readBody)
  if (accept(reader, '(?>')) return { kind: 'atomic', body: bodyOf(reader, readBody) }
  if (accept(reader, '(?P<')) return readCapture(reader, readBody, readUntil(reader, '>'))
  if (accept(reader, '(?P=')) return readNamedReference(reader)
  if (accept(reader, '(?(')) return readCondition(reader, readBody)
  if (accept(reader, '(?')) return readFlagged(reader, readBody)
  expect(reader, '(')
  return readCapture(reader, readBody, undefined)
}

/** The flags a group sets end with it. */
const bodyOf = (reader: Reader, readBody: ReadBody): PatternNode => {
  const { flags } = reader
  const body = readBody(reader)
  expect(reader, ')')
  reader.flags = flags
  return body
}

const readCapture = (reader: Reader, readBody: ReadBody, name: string | undefined): PatternNode => {
  reader.groupCount += 1
  const index = reader.groupCount
  if (name !== undefined) {
    if (!isIdentifier(name) || reader.groupNames.has(name)) return refuse('a wrong group name')
    reader.groupNames.set(name, index)
  }
  const body = bodyOf(reader, readBody)
  reader.closed.add(index)
  return { kind: 'group', index, body }
}

const readNamedReference = (reader: Reader): PatternNode => {
  const index = reader.groupNames.get(readUntil(reader, ')'))
  return index === undefined ? refuse('an unknown group') : referTo(reader, index)
}

const readLook = (
  reader: Reader,
  readBody: ReadBody,
  { behind, negated }: { behind: boolean; negated: boolean },
): PatternNode => {
  const body = bodyOf(reader, readBody)
  const { min, max } = widthOf(body)
  if (behind && min !== max) return refuse('a look-behind of varying width')
  return { kind: 'look', body, behind, negated, width: behind ? min : 0 }
}

/** `(?(1)yes|no)`, `(?(name)yes)`. */
const readCondition = (reader: Reader, readBody: ReadBody): PatternNode => {
  const name = readUntil(reader, ')')
  const index = /^[1-9]\d*$/.test(name) ? Number(name) : reader.groupNames.get(name)
  if (index === undefined || index > reader.groupCount) return refuse('an unknown group')
  const body = bodyOf(reader, readBody)
  const [yes, no, more] = body.kind === 'choice' ? body.branches : [body]
  if (yes === undefined || more !== undefined) return refuse('a condition of three branches')
  return { kind: 'condition', index, yes, no: no ?? { kind: 'sequence', items: [] } }
}

/** `(?i:...)`, `(?-i:...)`. */
const readFlagged = (reader: Reader, readBody: ReadBody): PatternNode => {
  let letters = ''
  while (/^[aimsux]$/.test(peek(reader) ?? '')) {
    letters += peek(reader) ?? ''
    reader.at += 1
  }
  let removed = ''
  if (accept(reader, '-')) {
    while (/^[imsx]$/.test(peek(reader) ?? '')) {
      removed += peek(reader) ?? ''
      reader.at += 1
    }
    if (removed === '') return refuse('flags are missing')
  }
  expect(reader, ':')
  const { flags } = reader
  reader.flags = (flags | flagsOf(letters)) & ~flagsOf(removed)
  const body = bodyOf(reader, readBody)
  reader.flags = flags
  return body
}

const flagsOf = (letters: string): number => {
  let flags = 0
  for (const letter of letters) flags |= LETTERS.get(letter) ?? 0
  return flags
}
