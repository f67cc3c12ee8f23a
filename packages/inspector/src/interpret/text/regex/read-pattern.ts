import { codePoints } from '../string/code-points.ts'
import { readAtom } from './read-atom.ts'
import { readGroup, readGlobalFlags } from './read-group.ts'
import { hasRepeat, REGEX_FLAGS } from './pattern.ts'
import type { Pattern, PatternNode } from './pattern.ts'
import { accept, acceptMatch, PatternRejected, peek, reject, skipVerbose } from './reader.ts'
import type { Reader } from './reader.ts'

/** Longest pattern, in characters. */
const MAX_PATTERN = 200

/**
 * Reads a pattern of Python's `re` (for str). Undefined for what Python rejects, for patterns above 200 characters, for
 * repeats inside repeats, and for the flag `L`.
 */
export const readPattern = (text: string, flags: number): Pattern | undefined => {
  const characters = codePoints(text)
  if (characters.length > MAX_PATTERN || (flags & REGEX_FLAGS.locale) !== 0) return undefined
  const reader: Reader = {
    characters,
    at: 0,
    flags,
    groupCount: 0,
    groupNames: new Map(),
    closed: new Set(),
  }
  try {
    readGlobalFlags(reader)
    const root = readChoice(reader)
    if (reader.at < characters.length) reject('unbalanced bracket')
    const { groupCount, groupNames } = reader
    return { root, groupCount, groupNames, flags: reader.flags }
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
    const item = next === '(' ? readGroup(reader, readChoice) : readAtom(reader)
    if (item !== undefined) items.push(readRepeats(reader, item))
  }
}

const readRepeats = (reader: Reader, body: PatternNode): PatternNode => {
  skipVerbose(reader)
  const bounds = readBounds(reader)
  if (bounds === undefined) return body
  if (body.kind === 'place') return reject('nothing to repeat')
  const lazy = accept(reader, '?')
  const possessive = !lazy && accept(reader, '+')
  skipVerbose(reader)
  const after = reader.at
  if (readBounds(reader) !== undefined) return reject('multiple repeat')
  reader.at = after
  if (bounds.max > 1 && hasRepeat(body)) return reject('a repeat in a repeat')
  const repeat: PatternNode = { kind: 'repeat', body, ...bounds, lazy }
  return possessive ? { kind: 'atomic', body: repeat } : repeat
}

const BOUNDS = /^\{(?:(\d+)(?:(,)(\d*))?|,(\d*))\}/

/** `*`, `+`, `?`, `{2}`, `{2,}`, `{,3}`, `{2,3}`; a brace that is none of these stands for itself. */
const readBounds = (reader: Reader): { min: number; max: number } | undefined => {
  if (accept(reader, '*')) return { min: 0, max: Infinity }
  if (accept(reader, '+')) return { min: 1, max: Infinity }
  if (accept(reader, '?')) return { min: 0, max: 1 }
  const match = acceptMatch(reader, BOUNDS)
  if (match === null) return undefined
  const [, least, comma, most, only] = match
  const min = Number(least ?? 0)
  const high = least === undefined ? only : comma === undefined ? least : most
  const max = high === undefined || high === '' ? Infinity : Number(high)
  return max < min ? reject('bounds in the wrong order') : { min, max }
}
