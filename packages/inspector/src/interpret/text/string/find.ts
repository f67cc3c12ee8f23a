import { indexOfUnit, isBasic, lengthOf, unitOffset } from './code-points.ts'
import { clampRange } from './slice.ts'

/** Range to search: code points, negative from the end; undefined is the text's own start or end. */
export interface TextRange {
  start?: bigint | undefined
  stop?: bigint | undefined
}

const findBy =
  (search: 'indexOf' | 'lastIndexOf') =>
  (text: string, part: string, range: TextRange = {}): number => {
    const window = windowOf(text, range)
    const at = window === undefined ? -1 : window.text[search](part)
    return window === undefined || at < 0 ? -1 : window.start + indexOfUnit(window.text, at)
  }

/** `text.find(part, start, stop)`: index in code points, -1 if it is not there. */
export const find = findBy('indexOf')

/** `text.rfind(part, start, stop)`. */
export const findLast = findBy('lastIndexOf')

/** `text.count(part, start, stop)`: occurrences that do not overlap. */
export const countOf = (text: string, part: string, range: TextRange = {}): number => {
  const window = windowOf(text, range)
  if (window === undefined) return 0
  if (part === '') return lengthOf(window.text) + 1
  return window.text.split(part).length - 1
}

const hasAt =
  (side: 'startsWith' | 'endsWith') =>
  (text: string, parts: readonly string[], range: TextRange = {}): boolean => {
    const window = windowOf(text, range)
    return window !== undefined && parts.some((part) => window.text[side](part))
  }

/** `text.startswith(prefixes, start, stop)`; a tuple in Python is an array of several. */
export const startsWith = hasAt('startsWith')

/** `text.endswith(suffixes, start, stop)`. */
export const endsWith = hasAt('endsWith')

/** Undefined when the range ends before it begins: then not even the empty text is in it. */
const windowOf = (text: string, range: TextRange): { text: string; start: number } | undefined => {
  if (range.start === undefined && range.stop === undefined) return { text, start: 0 }
  const { start, stop } = clampRange(lengthOf(text), range.start, range.stop)
  if (start > stop) return undefined
  if (isBasic(text)) return { text: text.slice(start, stop), start }
  return { text: text.slice(unitOffset(text, start), unitOffset(text, stop)), start }
}
