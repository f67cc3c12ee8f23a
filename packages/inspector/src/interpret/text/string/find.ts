import { indexOfUnit, lengthOf } from './code-points.ts'

/** `text.find(part)`: index in code points, -1 if it is not there. */
export const find = (text: string, part: string): number => {
  const at = text.indexOf(part)
  return at < 0 ? at : indexOfUnit(text, at)
}

/** `text.count(part)`: occurrences that do not overlap. */
export const countOf = (text: string, part: string): number =>
  part === '' ? lengthOf(text) + 1 : text.split(part).length - 1

/** `text.startswith(prefixes)`; a tuple in Python is an array of several. */
export const startsWith = (text: string, parts: readonly string[]): boolean =>
  parts.some((part) => text.startsWith(part))

/** `text.endswith(suffixes)`. */
export const endsWith = (text: string, parts: readonly string[]): boolean =>
  parts.some((part) => text.endsWith(part))
