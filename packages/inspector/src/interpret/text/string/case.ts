import { codePoints } from './code-points.ts'

const UPPER = /\p{Uppercase}/u
const LOWER = /\p{Lowercase}/u
const TITLE = /\p{Lt}/u
const CASED = /[\p{Uppercase}\p{Lowercase}\p{Lt}]/u
/** Characters whose title case is not their upper case, and the sigma, whose lower case depends on its place. */
const ODD =
  /[\u{345}\p{Lt}Σ\xdf\u0149\u01c4-\u01cc\u01f0-\u01f3\u0390\u03b0\u0587\u10d0-\u10ff\u1e96-\u1e9a\u1f50-\u1fff\ufb00-\ufb17]/u

export const upper = (text: string): string => text.toUpperCase()

export const lower = (text: string): string => text.toLowerCase()

/** The first character of each word in title case, the others lower; a word is a run of cased characters. */
export const title = (text: string): string | undefined => {
  if (ODD.test(text)) return undefined
  const out: string[] = []
  let inWord = false
  for (const character of text) {
    out.push(inWord ? character.toLowerCase() : character.toUpperCase())
    inWord = CASED.test(character)
  }
  return out.join('')
}

export const capitalize = (text: string): string | undefined => {
  if (ODD.test(text)) return undefined
  const [first = '', ...others] = codePoints(text)
  return first.toUpperCase() + others.join('').toLowerCase()
}

/** A cased character, and none that is lower or title. */
export const isUpper = (text: string): boolean =>
  UPPER.test(text) && !LOWER.test(text) && !TITLE.test(text)

/** A cased character, and none that is upper or title. */
export const isLower = (text: string): boolean =>
  LOWER.test(text) && !UPPER.test(text) && !TITLE.test(text)
