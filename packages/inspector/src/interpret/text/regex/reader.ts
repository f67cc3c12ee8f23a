import { codePoints } from '../string/code-points.ts'
import { REGEX_FLAGS } from './pattern.ts'

/** State of reading a pattern. */
export interface Reader {
  characters: readonly string[]
  at: number
  flags: number
  groupCount: number
  groupNames: Map<string, number>
  /** Groups that are closed: only these can be referred to. */
  closed: Set<number>
}

/** Thrown by what reads a pattern when it is none; caught by `readPattern`. */
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
