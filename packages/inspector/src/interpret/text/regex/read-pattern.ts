import { codePoints } from '../string/code-points.ts'
import { readAtom } from './read-atom.ts'
import {
  accept,
  acceptMatch,
  expect,
  FLAG_LETTERS,
  hasRepeat,
  PatternRejected,
  peek,
  readUntil,
  REGEX_FLAGS,
  reject,
  skipVerbose,
  widthOf,
} from './pattern.ts'
import type { Pattern, PatternNode, Reader } from './pattern.ts'
import { isIdentifier } from '../string/classes.ts'

/** Longest pattern, in characters. */
const MAX_PATTERN = 200

/**
 * `re.compile(pattern, flags)` (for str). Undefined for what Python rejects, for patterns above 200 characters, for
 * repeats inside repeats, references, conditions, atomic groups, flags of a group, and for the flag `L`. The pattern is
 * run by an own backtracking matcher: JavaScript's can't be interrupted, takes a reference to a group without a match for
 * an empty one, and forgets groups at each round of a repeat.
 */
export const compileRegex = (text: string, flags = 0): Pattern | undefined => {
  const characters = codePoints(text)
  if (characters.length > MAX_PATTERN || (flags & REGEX_FLAGS.locale) !== 0) return undefined
  const reader: Reader = { characters, at: 0, flags, groupCount: 0, groupNames: new Map() }
  try {
    readGlobalFlags(reader)
    const root = readChoice(reader)
    if (reader.at < characters.length) reject('unbalanced bracket')
    const { groupCount, groupNames } = reader
    return { text, root, groupCount, groupNames }
  } catch (error) {
    if (error instanceof PatternRejected) return undefined
    throw error
  }
}

/** `a|b|c`, up to a closing bracket or the end. */
const readChoice = (reader: Reader): PatternNode => {
  const branches = [readSequence(reader)]
  while (accept(reader, '|')) branches.push(readSequence(reader))
  return branches.length === 1 && branches[0] !== undefined
    ? branches[0]
    : { kind: 'choice', branches }
}

const readSequence = (reader: Reader): PatternNode => {
  const items: PatternNode[] = []
  for (;;) {
    skipVerbose(reader)
    const next = peek(reader)
    if (next === undefined || next === '|' || next === ')') return { kind: 'sequence', items }
    const item = next === '(' ? readGroup(reader) : readAtom(reader)
    if (item !== undefined) items.push(readRepeats(reader, item))
  }
}

const readRepeats = (reader: Reader, body: PatternNode): PatternNode => {
  skipVerbose(reader)
  const bounds = readBounds(reader)
  if (bounds === undefined) return body
  if (body.kind === 'place') return reject('nothing to repeat')
  const lazy = accept(reader, '?')
  skipVerbose(reader)
  const after = reader.at
  if (readBounds(reader) !== undefined) return reject('multiple repeat')
  reader.at = after
  if (bounds.max > 1 && hasRepeat(body)) return reject('a repeat in a repeat')
  return { kind: 'repeat', body, ...bounds, lazy }
}

const BOUNDS = /^\{(?:(\d+)(?:(,)(\d*))?|,(\d*))\}/

/** `*`, `+`, `?`, `{2}`, `{2,}`, `{,3}`, `{2,3}`; a brace that is none of these stands for itself. */
const readBounds = (reader: Reader): { min: number; max: number } | undefined => {
  if (accept(reader, '*')) return { min: 0, max: Infinity }
  if (accept(reader, '+')) return { min: 1, max: Infinity }
  if (accept(reader, '?')) return { min: 0, max: 1 }
  const match = acceptMatch(reader, BOUNDS)
  if (match === null) return undefined
  const [, from, comma, to, only] = match
  const min = Number(from ?? 0)
  const high = from === undefined ? only : comma === undefined ? from : to
  const max = high === undefined || high === '' ? Infinity : Number(high)
  return max < min ? reject('bounds in the wrong order') : { min, max }
}

/** Reads `(?ims)` at the very start, which holds for the whole pattern. */
const readGlobalFlags = (reader: Reader): void => {
  for (const letter of acceptMatch(reader, /^\(\?([aimsux]+)\)/)?.[1] ?? '')
    reader.flags |= REGEX_FLAGS[FLAG_LETTERS[letter] ?? 'unicode']
}

/** Reads anything in round brackets; undefined for a comment. */
const readGroup = (reader: Reader): PatternNode | undefined => {
  if (accept(reader, '(?#')) {
    readUntil(reader, ')')
    return undefined
  }
  const matchLookaround = acceptMatch(reader, /^\(\?(<?)([=!])/)
  if (matchLookaround !== null) return readLookaround(reader, matchLookaround)
  if (accept(reader, '(?:')) return bodyOf(reader)
  if (accept(reader, '(?P<')) return readCapture(reader, readUntil(reader, '>'))
  if (accept(reader, '(?')) return reject('another kind of group')
  expect(reader, '(')
  return readCapture(reader, undefined)
}

const bodyOf = (reader: Reader): PatternNode => {
  const body = readChoice(reader)
  expect(reader, ')')
  return body
}

const readCapture = (reader: Reader, name: string | undefined): PatternNode => {
  reader.groupCount += 1
  const index = reader.groupCount
  if (name !== undefined) {
    if (!isIdentifier(name) || reader.groupNames.has(name)) return reject('a wrong group name')
    reader.groupNames.set(name, index)
  }
  const body = bodyOf(reader)
  return { kind: 'group', index, body }
}

const readLookaround = (reader: Reader, [, direction, sign]: RegExpExecArray): PatternNode => {
  const [behind, negated] = [direction === '<', sign === '!']
  const body = bodyOf(reader)
  const { min, max } = widthOf(body)
  if (behind && min !== max) return reject('a look-behind of varying width')
  return { kind: 'look', body, behind, negated, width: behind ? min : 0 }
}
