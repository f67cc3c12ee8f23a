import { codePoints } from '../string/code-points.ts'
import { readCharacterEscape, readOctal } from './escape.ts'
import { groupText, type Regex, type RegexMatch } from './regex.ts'

/** Texts and numbers of groups in turn. */
type Replacement = (string | number)[]

const GROUP = /^g<([^>]+)>/

/** Reads the replacement of `re.sub`: `\1`, `\g<name>`, `\n`; undefined for what Python rejects. */
export const readReplacement = (text: string, regex: Regex): Replacement | undefined => {
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
  regex: Regex,
): { piece: string | number; end: number } | undefined => {
  const named = GROUP.exec(characters.slice(at).join(''))
  if (named !== null) {
    const [whole, name = ''] = named
    const index = groupIndex(name, regex)
    return index === undefined ? undefined : { piece: index, end: at + codePoints(whole).length }
  }
  const digits = /^\d{1,3}/.exec(characters.slice(at, at + 3).join(''))?.[0] ?? ''
  if (digits === '') return characterEscape(readCharacterEscape(characters, at))
  if (digits.startsWith('0') || /^[0-3][0-7]{2}$/.test(digits)) {
    return characterEscape(readOctal(characters, at))
  }
  const number = Number(digits.slice(0, 2))
  return number <= regex.compiled.groupCount
    ? { piece: number, end: at + Math.min(2, digits.length) }
    : undefined
}

const characterEscape = (escape: { character: string; end: number } | undefined) =>
  escape === undefined ? undefined : { piece: escape.character, end: escape.end }

const groupIndex = (name: string, regex: Regex): number | undefined => {
  if (!/^\d{1,3}$/.test(name)) return regex.compiled.groupNames.get(name)
  return Number(name) <= regex.compiled.groupCount ? Number(name) : undefined
}
