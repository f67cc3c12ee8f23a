import { isIdentifier } from '../string/classes.ts'
import { REGEX_FLAGS, widthOf } from './pattern.ts'
import type { PatternNode } from './pattern.ts'
import { referTo } from './read-atom.ts'
import { accept, acceptMatch, expect, readUntil, reject } from './reader.ts'
import type { Reader } from './reader.ts'

const LETTERS = new Map<string, number>([
  ['a', REGEX_FLAGS.ascii],
  ['i', REGEX_FLAGS.ignoreCase],
  ['m', REGEX_FLAGS.multiline],
  ['s', REGEX_FLAGS.dotAll],
  ['u', REGEX_FLAGS.unicode],
  ['x', REGEX_FLAGS.verbose],
])

/** Reads the inside of a group; given by the caller, which reads groups itself. */
type ReadBody = (reader: Reader) => PatternNode

/** Reads `(?ims)` at the very start, which holds for the whole pattern. */
export const readGlobalFlags = (reader: Reader): void => {
  reader.flags |= flagsOf(acceptMatch(reader, /^\(\?([aimsux]+)\)/)?.[1])
}

/** Reads anything in round brackets; undefined for a comment. */
export const readGroup = (reader: Reader, readBody: ReadBody): PatternNode | undefined => {
  if (accept(reader, '(?#')) {
    readUntil(reader, ')')
    return undefined
  }
  const matchLookaround = acceptMatch(reader, /^\(\?(<?)([=!])/)
  if (matchLookaround !== null) return readLookaround(reader, readBody, matchLookaround)
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
    if (!isIdentifier(name) || reader.groupNames.has(name)) return reject('a wrong group name')
    reader.groupNames.set(name, index)
  }
  const body = bodyOf(reader, readBody)
  reader.closed.add(index)
  return { kind: 'group', index, body }
}

const readNamedReference = (reader: Reader): PatternNode => {
  const index = reader.groupNames.get(readUntil(reader, ')'))
  return index === undefined ? reject('an unknown group') : referTo(reader, index)
}

const readLookaround = (
  reader: Reader,
  readBody: ReadBody,
  [, direction, sign]: RegExpExecArray,
): PatternNode => {
  const [behind, negated] = [direction === '<', sign === '!']
  const body = bodyOf(reader, readBody)
  const { min, max } = widthOf(body)
  if (behind && min !== max) return reject('a look-behind of varying width')
  return { kind: 'look', body, behind, negated, width: behind ? min : 0 }
}

/** `(?(1)yes|no)`, `(?(name)yes)`. */
const readCondition = (reader: Reader, readBody: ReadBody): PatternNode => {
  const name = readUntil(reader, ')')
  const index = /^[1-9]\d*$/.test(name) ? Number(name) : reader.groupNames.get(name)
  if (index === undefined || index > reader.groupCount) return reject('an unknown group')
  const body = bodyOf(reader, readBody)
  const [yes, no, more] = body.kind === 'choice' ? body.branches : [body]
  if (yes === undefined || more !== undefined) return reject('a condition of three branches')
  return { kind: 'condition', index, yes, no: no ?? { kind: 'sequence', items: [] } }
}

/** Reads `(?i:...)`, `(?-i:...)`. */
const readFlagged = (reader: Reader, readBody: ReadBody): PatternNode => {
  const { flags } = reader
  const match = acceptMatch(reader, /^([aimsux]*)(?:-([imsx]+))?:/)
  if (match === null) return reject('unknown flags')
  reader.flags = (flags | flagsOf(match[1])) & ~flagsOf(match[2])
  const body = bodyOf(reader, readBody)
  reader.flags = flags
  return body
}

const flagsOf = (letters = ''): number => {
  let flags = 0
  for (const letter of letters) flags |= LETTERS.get(letter) ?? 0
  return flags
}
