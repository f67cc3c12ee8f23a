import type { JoinedStr } from './ast.ts'

/** Beginning of a string literal: its prefix letters and quotes. */
export interface LiteralHead {
  raw: boolean
  bytes: boolean
  /** An f-string, or a t-string of Python 3.14. */
  format: boolean
  /** `'`, `"`, their triples, or the backquote of Python 2. */
  quote: string
  /** In the source: the first character of the content. */
  start: number
}

/** The head of the literal at `start`, or undefined if there is no quote after at most three letters. */
export const findLiteralHead = (text: string, start: number): LiteralHead | undefined => {
  let at = start
  while (at < start + 3 && isLetter(text.charCodeAt(at))) at += 1
  const quote = findQuote(text, at)
  if (quote === undefined) return undefined
  const prefix = text.slice(start, at).toLowerCase()
  return {
    raw: prefix.includes('r'),
    bytes: prefix.includes('b'),
    format: prefix.includes('f') || prefix.includes('t'),
    quote,
    start: at + quote.length,
  }
}

const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a

const findQuote = (text: string, at: number): string | undefined => {
  const quote = text.charAt(at)
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined
  const isTriple = text.charAt(at + 1) === quote && text.charAt(at + 2) === quote && quote !== '`'
  return isTriple ? quote.repeat(3) : quote
}

const ESCAPE =
  /\\(?:(\n)|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{[\w ()-]{1,100}\}|([\s\S]))/g
const BYTES_ESCAPE = /\\(?:(\n)|([0-7]{1,3})|x([0-9a-fA-F]{2})|()()([\s\S]))/g

const SIMPLE = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

/**
 * Content with its escapes resolved. `\N{name}` stays as it is (the names of all characters are a table of a megabyte),
 * as does an escape Python rejects or leaves alone (`\d`).
 */
export const unescape = (content: string, head: LiteralHead): string =>
  head.raw || !content.includes('\\')
    ? content
    : content.replace(head.bytes ? BYTES_ESCAPE : ESCAPE, resolve)

const resolve = (
  escape: string,
  newline: string | undefined,
  octal: string | undefined,
  byte: string | undefined,
  short: string | undefined,
  long: string | undefined,
  simple: string | undefined,
): string => {
  if (newline !== undefined) return ''
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
  const hex = byte || short || long
  if (hex) return character(escape, Number.parseInt(hex, 16))
  return (simple && SIMPLE.get(simple)) ?? escape
}

const character = (escape: string, code: number): string =>
  code > 0x10ffff ? escape : String.fromCodePoint(code)

/** Text between the fields of an f-string: `{{` and `}}` are braces, but not those that an escape names. */
export const unescapeBraced = (content: string, head: LiteralHead): string => {
  if (!/[{}]/.test(content)) return unescape(content, head)
  const pieces = head.raw ? [content] : content.split(/(\\N\{[\w ()-]{1,100}\})/)
  return pieces
    .map((piece, index) => (index % 2 ? piece : unescape(halveBraces(piece), head)))
    .join('')
}

const halveBraces = (content: string): string =>
  content.replace(/\{\{|\}\}/g, (pair) => pair.charAt(0))

/** Adds text to the parts of an f-string; two texts in a row are one. */
export const addText = (values: JoinedStr['values'], text: string): void => {
  if (text === '') return
  const last = values.at(-1)
  if (typeof last === 'string') values[values.length - 1] = last + text
  else values.push(text)
}
