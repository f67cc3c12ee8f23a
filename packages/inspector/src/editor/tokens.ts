import { words } from '../words.ts'

/** A part of a script: a name, the value of a text, or anything else by its first character. */
export interface Token {
  kind: 'name' | 'text' | 'mark'
  text: string
}

export const textAt = (tokens: readonly Token[], at: number): string => tokens[at]?.text ?? ''

/** True for a mark, and not for a text or name that is written like it. */
export const isMark = (tokens: readonly Token[], at: number, mark: string): boolean =>
  tokens[at]?.kind === 'mark' && tokens[at].text === mark

/** Characters of a text that is kept; a longer one is no name of anything. */
const TEXT_MAX = 1_000
/** Characters of a regular expression: without an end a slash is a division. */
const REGEX_MAX = 500

/**
 * Splits a script (JavaScript) into tokens, in one pass whose time grows with its length. Nothing is an error: what has no end
 * ends with the script. A template reads as the sum of its parts, in brackets.
 */
export const readTokens = (source: string): Token[] => {
  const tokens: Token[] = []
  /** Braces that are open within each part of a template. */
  const templates: number[] = []
  let at = 0
  const add = (kind: Token['kind'], text: string): unknown => tokens.push({ kind, text })
  const addText = (start: number, end: number): unknown =>
    end - start > TEXT_MAX ? add('mark', '…') : add('text', unescape(source.slice(start, end)))
  /** Reads a template from behind its quote, or behind a part, to the next part or its end. */
  const readTemplate = (start: number): void => {
    let end = start
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end))
      end += source[end] === '\\' ? 2 : 1
    addText(start, end)
    const isOpen = source[end] === '$'
    if (isOpen) templates.push(0)
    for (const mark of isOpen ? '+(' : ')') add('mark', mark)
    at = end + (isOpen ? 2 : 1)
  }
  const readMark = (mark: string): void => {
    const depth = templates.at(-1)
    if (mark === '`') {
      add('mark', '(')
      return readTemplate(at + 1)
    }
    if (mark === '}' && depth === 0) {
      templates.pop()
      for (const one of ')+') add('mark', one)
      return readTemplate(at + 1)
    }
    if (depth !== undefined && mark === '{') templates[templates.length - 1] = depth + 1
    if (depth !== undefined && mark === '}') templates[templates.length - 1] = depth - 1
    add('mark', mark)
    at += 1
  }
  while (at < source.length) {
    const mark = source[at] ?? ''
    const name = matchAt(NAME, source, at)
    if (name !== undefined) {
      add('name', name)
      at += name.length
    } else if (mark === '"' || mark === "'") {
      const end = endOfText(source, at + 1, mark)
      addText(at + 1, end)
      at = end + 1
    } else {
      const skipped = endOfSkipped(source, at, tokens.at(-1))
      if (skipped > at) at = skipped
      else readMark(mark)
    }
  }
  return tokens
}

const NAME = /[\p{ID_Start}$_#][\p{ID_Continue}$]*/uy
const SKIPPED = /\s+|\d[\w.]*/y

const matchAt = (pattern: RegExp, source: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

const endOfText = (source: string, start: number, quote: string): number => {
  let end = start
  while (end < source.length && source[end] !== quote && source[end] !== '\n')
    end += source[end] === '\\' ? 2 : 1
  return end
}

/** The end of white space, a number, a comment or a regular expression that begins here; the place itself without one. */
const endOfSkipped = (source: string, at: number, last: Token | undefined): number => {
  const plain = matchAt(SKIPPED, source, at)
  if (plain !== undefined) return at + plain.length
  if (source.startsWith('//', at)) return behind(source, '\n', at)
  if (source.startsWith('/*', at)) return behind(source, '*/', at + 2)
  return source[at] === '/' && mayBeRegex(last) ? endOfRegex(source, at) : at
}

const behind = (source: string, end: string, at: number): number => {
  const found = source.indexOf(end, at)
  return found < 0 ? source.length : found + end.length
}

const BEFORE_REGEX = new Set(
  words('return typeof case in of delete void throw new else do await yield'),
)

const mayBeRegex = (last: Token | undefined): boolean => {
  if (!last || last.kind === 'text') return !last
  return last.kind === 'name' ? BEFORE_REGEX.has(last.text) : !')]}…'.includes(last.text)
}

const endOfRegex = (source: string, at: number): number => {
  let isInClass = false
  for (let end = at + 1; end < source.length && end - at < REGEX_MAX; end += 1) {
    const mark = source[end]
    if (mark === '\n') return at
    if (mark === '\\') end += 1
    else if (mark === '[') isInClass = true
    else if (mark === ']') isInClass = false
    else if (mark === '/' && !isInClass) return end + 1
  }
  return at
}

const ESCAPE = /\\(?:u\{([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|([^]))/gi
const LETTERS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' }

const unescape = (text: string): string =>
  text.replaceAll(ESCAPE, (_, long?: string, short?: string, byte?: string, letter = '') => {
    const code = Number.parseInt(long ?? short ?? byte ?? '', 16)
    if (Number.isNaN(code)) return LETTERS[letter as string] ?? (letter as string)
    // A pair of surrogates is two escapes.
    return code > 0x10ffff
      ? ''
      : code > 0xffff
        ? String.fromCodePoint(code)
        : String.fromCharCode(code)
  })
