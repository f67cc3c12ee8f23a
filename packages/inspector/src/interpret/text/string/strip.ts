import { WHITESPACE } from './classes.ts'
import { codePoints } from './code-points.ts'

const LEADING = new RegExp(`^[${WHITESPACE}]+`)
const SPACE = new RegExp(`[${WHITESPACE}]`)

/** `text.lstrip(chars)`; without chars, white space. */
export const stripStart = (text: string, chars?: string): string => {
  if (chars === undefined) return text.replace(LEADING, '')
  const set = new Set(codePoints(chars))
  let offset = 0
  for (const character of text) {
    if (!set.has(character)) break
    offset += character.length
  }
  return text.slice(offset)
}

/** `text.rstrip(chars)`. Read backwards by hand: an expression bound to the end takes quadratic time on blanks. */
export const stripEnd = (text: string, chars?: string): string => {
  if (chars === undefined) {
    let end = text.length
    while (end > 0 && SPACE.test(text.charAt(end - 1))) end -= 1
    return text.slice(0, end)
  }
  const set = new Set(codePoints(chars))
  const characters = codePoints(text)
  let end = characters.length
  while (end > 0 && set.has(characters[end - 1] ?? '')) end -= 1
  return characters.slice(0, end).join('')
}

/** `text.strip(chars)`. */
export const strip = (text: string, chars?: string): string =>
  stripEnd(stripStart(text, chars), chars)

export const removePrefix = (text: string, prefix: string): string =>
  text.startsWith(prefix) ? text.slice(prefix.length) : text

export const removeSuffix = (text: string, suffix: string): string =>
  suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text
