import { reprFloat } from '../repr.ts'

// oxlint-disable-next-line no-control-regex -- JSON escapes control characters
const ESCAPED = /["\\\0-\x1f]/g
const ESCAPED_ASCII = /["\\]|[^ -~]/g
const SHORT = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\f', '\\f'],
  ['\b', '\\b'],
])

/** A text as `json.dumps` writes it; with `ensureAscii` (Python's default) in UTF-16 escapes. */
export const writeJsonText = (text: string, ensureAscii: boolean): string => {
  const escaped = text.replaceAll(
    ensureAscii ? ESCAPED_ASCII : ESCAPED,
    (unit) => SHORT.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `"${escaped}"`
}

/** A float as `json.dumps` writes it: its repr, or `NaN`, `Infinity`, `-Infinity`. */
export const writeJsonFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return reprFloat(value)
  return value < 0 ? '-Infinity' : 'Infinity'
}
