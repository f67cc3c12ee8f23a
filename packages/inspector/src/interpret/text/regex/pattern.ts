import { codePoints } from '../string/code-points.ts'

/** A pattern of Python's `re`, read. Groups are numbered from 1, in the order of their brackets. */
export type PatternNode =
  /** Takes one character. */
  | { kind: 'character'; matches: CharacterTest }
  | { kind: 'sequence'; items: PatternNode[] }
  | { kind: 'choice'; branches: PatternNode[] }
  | { kind: 'group'; index: number; body: PatternNode }
  | { kind: 'repeat'; body: PatternNode; min: number; max: number; lazy: boolean }
  /** `width` is how far a look-behind goes back. */
  | { kind: 'look'; body: PatternNode; behind: boolean; negated: boolean; width: number }
  /** Takes nothing: `^`, `\b`. */
  | { kind: 'place'; holds: PlaceTest }

export type CharacterTest = (character: string) => boolean
type PlaceTest = (text: readonly string[], at: number) => boolean
/** Maps characters that count as equal to the same one. */
export type Fold = (character: string) => string

export interface Pattern {
  /** As it was written. */
  text: string
  root: PatternNode
  groupCount: number
  groupNames: ReadonlyMap<string, number>
}

/** Values of `re.A`, `re.I` and so on. */
export const REGEX_FLAGS = {
  ignoreCase: 2,
  locale: 4,
  multiline: 8,
  dotAll: 16,
  unicode: 32,
  verbose: 64,
  ascii: 256,
} as const

/** Flags by their letters, as a pattern has them. */
export const FLAG_LETTERS: Readonly<Record<string, keyof typeof REGEX_FLAGS>> = {
  a: 'ascii',
  i: 'ignoreCase',
  m: 'multiline',
  s: 'dotAll',
  u: 'unicode',
  x: 'verbose',
}

/** Fewest and most characters that a node takes. */
export const widthOf = (node: PatternNode): { min: number; max: number } => {
  switch (node.kind) {
    case 'character':
      return { min: 1, max: 1 }
    case 'sequence':
      return node.items.map(widthOf).reduce(add, { min: 0, max: 0 })
    case 'choice':
      return node.branches.map(widthOf).reduce(span)
    case 'group':
      return widthOf(node.body)
    case 'repeat': {
      const { min, max } = widthOf(node.body)
      return { min: min * node.min, max: max === 0 ? 0 : max * node.max }
    }
    case 'look':
    case 'place':
      return { min: 0, max: 0 }
  }
}

/** True when a repeat of varying count stands in it, so that a repeat around it would be nested. */
export const hasRepeat = (node: PatternNode): boolean =>
  (node.kind === 'repeat' && node.max > 1 && node.max !== node.min) ||
  childrenOf(node).some(hasRepeat)

const childrenOf = (node: PatternNode): PatternNode[] => {
  if (node.kind === 'sequence') return node.items
  if (node.kind === 'choice') return node.branches
  return 'body' in node ? [node.body] : []
}

interface Width {
  min: number
  max: number
}

const add = (a: Width, b: Width): Width => ({ min: a.min + b.min, max: a.max + b.max })

const span = (a: Width, b: Width): Width => ({
  min: Math.min(a.min, b.min),
  max: Math.max(a.max, b.max),
})

/** State of reading a pattern. */
export interface Reader {
  characters: readonly string[]
  at: number
  flags: number
  groupCount: number
  groupNames: Map<string, number>
}

/** Thrown by what reads a pattern when it is none; caught by `compileRegex`. */
export class PatternRejected extends Error {}

export const reject = (why: string): never => {
  throw new PatternRejected(why)
}

export const peek = (reader: Reader): string | undefined => reader.characters[reader.at]

/** Steps over the text if it comes next. */
export const accept = (reader: Reader, text: string): boolean => {
  const comes = reader.characters.slice(reader.at, reader.at + text.length).join('') === text
  if (comes) reader.at += text.length
  return comes
}

/** Steps over what an expression finds at the beginning of what comes next. */
export const acceptMatch = (reader: Reader, expression: RegExp): RegExpExecArray | null => {
  const match = expression.exec(reader.characters.slice(reader.at).join(''))
  reader.at += match === null ? 0 : codePoints(match[0]).length
  return match
}

export const expect = (reader: Reader, text: string): void => {
  if (!accept(reader, text)) reject(`${text} is missing`)
}

/** Returns the text before `end`, and steps over both. */
export const readUntil = (reader: Reader, end: string): string => {
  const close = reader.characters.indexOf(end, reader.at)
  if (close < 0) return reject(`${end} is missing`)
  const text = reader.characters.slice(reader.at, close).join('')
  reader.at = close + 1
  return text
}

export const hasFlag = (reader: Reader, flag: keyof typeof REGEX_FLAGS): boolean =>
  (reader.flags & REGEX_FLAGS[flag]) !== 0

/** Steps over blanks and comments, which don't count with the flag `x`. */
export const skipVerbose = (reader: Reader): void => {
  if (hasFlag(reader, 'verbose')) acceptMatch(reader, /^(?:[ \t\n\r\f\v]|#[^\n]*(?:\n|$))+/)
}
