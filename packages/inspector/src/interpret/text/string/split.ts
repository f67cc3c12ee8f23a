import { WHITESPACE } from './classes.ts'
import { stripEnd, stripStart } from './strip.ts'

const GAP = new RegExp(`[${WHITESPACE}]+`, 'g')
/** Everything `str.splitlines` takes for the end of a line. */
// oxlint-disable-next-line no-control-regex -- the separators of file, group and record are among them
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g

/**
 * `text.split(separator, limit)`. Without a separator runs of white space separate, and empty parts are left out. A
 * negative limit is none. Undefined for an empty separator, which raises.
 */
export const split = (text: string, separator?: string, limit = -1n): string[] | undefined => {
  if (separator === undefined) return splitWords(text, limit)
  if (separator === '') return undefined
  const parts = text.split(separator)
  if (limit < 0n || parts.length - 1 <= limit) return parts
  const kept = parts.slice(0, Number(limit))
  return [...kept, parts.slice(kept.length).join(separator)]
}

/** `text.rsplit(separator, limit)`: as split, but a limit counts from the end. Of words no limit is known. */
export const splitFromEnd = (
  text: string,
  separator?: string,
  limit = -1n,
): string[] | undefined => {
  if (separator === undefined && limit < 0n) return splitWords(text, limit)
  if (separator === undefined || separator === '') return undefined
  return splitPartsFromEnd(text, separator, limit)
}

/** `text.splitlines(keepends)`. */
export const splitLines = (text: string, keepEnds = false): string[] => {
  const lines: string[] = []
  let start = 0
  for (const { 0: end, index } of text.matchAll(LINE_END)) {
    lines.push(text.slice(start, keepEnds ? index + end.length : index))
    start = index + end.length
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

const splitWords = (text: string, limit: bigint): string[] => {
  const rest = stripStart(text)
  const words: string[] = []
  let start = 0
  for (const { 0: gap, index } of rest.matchAll(GAP)) {
    if (limit >= 0n && words.length >= limit) break
    words.push(rest.slice(start, index))
    start = index + gap.length
  }
  const last =
    limit >= 0n && words.length >= limit ? rest.slice(start) : stripEnd(rest.slice(start))
  return last === '' ? words : [...words, last]
}

/** Separators that overlap themselves are found from the end: `'aaa'.rsplit('aa')` is `['a', '']`. */
const splitPartsFromEnd = (text: string, separator: string, limit: bigint): string[] => {
  const parts: string[] = []
  const max = limit < 0n ? Infinity : Number(limit)
  let end = text.length
  while (parts.length < max) {
    const at = end < separator.length ? -1 : text.lastIndexOf(separator, end - separator.length)
    if (at < 0) break
    parts.push(text.slice(at + separator.length, end))
    end = at
  }
  return [...parts, text.slice(0, end)].toReversed()
}
