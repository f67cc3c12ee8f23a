import { codePoints } from '../string/code-points.ts'
import { readCharacterEscape } from './escape.ts'
import { groupText, type RegexMatch } from './regex.ts'
import type { Pattern } from './pattern.ts'

/** Texts and numbers of groups in turn. */
type Replacement = (string | number)[]

const NAMED = /^g<([^>]+)>/
/** Three octal digits are a character, which is not read. */
const NUMBERED = /^(?!0|[0-3][0-7]{2})(\d\d?)/

/** Reads the replacement of `re.sub`: `\1`, `\g<name>`, `\n`; undefined for what Python rejects. */
export const readReplacement = (text: string, regex: Pattern): Replacement | undefined => {
  const characters = codePoints(text)
  const pieces: Replacement = []
  for (let at = 0; at < characters.length;) {
    if (characters[at] !== '\\') {
      pieces.push(characters[at] ?? '')
      at += 1
      continue
    }
    const escape = readEscape(characters, at + 1, regex)
    if (escape === undefined) return undefined
    pieces.push(escape.piece)
    at = escape.end
  }
  return pieces
}

/** The replacement for one match; a group without a match is empty. */
export const expandReplacement = (replacement: Replacement, match: RegexMatch): string =>
  replacement
    .map((piece) => (typeof piece === 'string' ? piece : (groupText(match, piece) ?? '')))
    .join('')

/** `re.escape(text)`. */
export const escapePattern = (text: string): string =>
  text.replaceAll(/[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g, '\\$&')

const readEscape = (
  characters: readonly string[],
  at: number,
  regex: Pattern,
): { piece: string | number; end: number } | undefined => {
  const rest = characters.slice(at).join('')
  const [whole, name] = NAMED.exec(rest) ?? NUMBERED.exec(rest) ?? []
  if (whole === undefined || name === undefined) {
    const escape = readCharacterEscape(characters, at)
    return escape && { piece: escape.character, end: escape.end }
  }
  const { groupCount, groupNames } = regex
  const index = /^\d+$/.test(name) ? Number(name) : groupNames.get(name)
  return index === undefined || index > groupCount
    ? undefined
    : { piece: index, end: at + codePoints(whole).length }
}
