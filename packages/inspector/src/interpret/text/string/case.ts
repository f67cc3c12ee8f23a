import { codePoints } from './code-points.ts'

const UPPER = /\p{Uppercase}/u
const LOWER = /\p{Lowercase}/u
const TITLE = /\p{Lt}/u
const CASED = /[\p{Uppercase}\p{Lowercase}\p{Lt}]/u
const CASE_IGNORABLE = /\p{Case_Ignorable}/u
const CHEROKEE = /[\u13a0-\u13f5\u13f8-\u13fd\uab70-\uabbf]/u

/** Characters that are their own title case, though they have an upper case: Georgian, and Greek titled already. */
const OWN_TITLE =
  /[\u10d0-\u10fa\u10fd-\u10ff\u1f88-\u1f8f\u1f98-\u1f9f\u1fa8-\u1faf\u1fbc\u1fcc\u1ffc]/u
const GREEK_WITH_IOTA = /[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7]/u

/** The other characters whose title case is not their upper case, each before its title case. Unicode 15. */
const TITLES = new Map(
  [
    '\xdfSs \u01c4\u01c5 \u01c5\u01c5 \u01c6\u01c5 \u01c7\u01c8 \u01c8\u01c8 \u01c9\u01c8',
    '\u01ca\u01cb \u01cb\u01cb \u01cc\u01cb \u01f1\u01f2 \u01f2\u01f2 \u01f3\u01f2',
    '\u0587\u0535\u0582 \u1fb2\u1fba\u0345 \u1fb3\u1fbc \u1fb4\u0386\u0345 \u1fb7\u0391\u0342\u0345',
    '\u1fc2\u1fca\u0345 \u1fc3\u1fcc \u1fc4\u0389\u0345 \u1fc7\u0397\u0342\u0345',
    '\u1ff2\u1ffa\u0345 \u1ff3\u1ffc \u1ff4\u038f\u0345 \u1ff7\u03a9\u0342\u0345',
    '\ufb00Ff \ufb01Fi \ufb02Fl \ufb03Ffi \ufb04Ffl \ufb05St \ufb06St',
    '\ufb13\u0544\u0576 \ufb14\u0544\u0565 \ufb15\u0544\u056b \ufb16\u054e\u0576 \ufb17\u0544\u056d',
  ]
    .join(' ')
    .split(' ')
    .map((pair): [string, string] => [pair.slice(0, 1), pair.slice(1)]),
)

export const upper = (text: string): string => text.toUpperCase()

export const lower = (text: string): string => text.toLowerCase()

/** For comparing without case: `ß` becomes `ss`. */
export const casefold = (text: string): string =>
  codePoints(text)
    .map((character) => {
      if (character === 'ı') return character
      if (character === 'ẞ') return 'ss'
      const high = character.toUpperCase()
      return CHEROKEE.test(character) ? high : high.toLowerCase()
    })
    .join('')

/** The first character of each word in title case, the others lower; a word is a run of cased characters. */
export const title = (text: string): string => {
  const characters = codePoints(text)
  const out: string[] = []
  let inWord = false
  for (const [at, character] of characters.entries()) {
    out.push(inWord ? lowerAt(characters, at) : titleOf(character))
    inWord = CASED.test(character)
  }
  return out.join('')
}

export const capitalize = (text: string): string => {
  const characters = codePoints(text)
  return characters
    .map((character, at) => (at === 0 ? titleOf(character) : lowerAt(characters, at)))
    .join('')
}

export const swapcase = (text: string): string => {
  const characters = codePoints(text)
  return characters
    .map((character, at) => {
      if (UPPER.test(character)) return lowerAt(characters, at)
      return LOWER.test(character) ? character.toUpperCase() : character
    })
    .join('')
}

/** A cased character, and none that is lower or title. */
export const isUpper = (text: string): boolean =>
  UPPER.test(text) && !LOWER.test(text) && !TITLE.test(text)

/** A cased character, and none that is upper or title. */
export const isLower = (text: string): boolean =>
  LOWER.test(text) && !UPPER.test(text) && !TITLE.test(text)

const titleOf = (character: string): string => {
  if (OWN_TITLE.test(character)) return character
  if (GREEK_WITH_IOTA.test(character)) {
    return String.fromCodePoint((character.codePointAt(0) ?? 0) + 8)
  }
  return TITLES.get(character) ?? character.toUpperCase()
}

const lowerAt = (characters: readonly string[], at: number): string => {
  const character = characters[at] ?? ''
  return character === 'Σ' && endsWord(characters, at) ? 'ς' : character.toLowerCase()
}

/** A cased character before and none after, with those in between that case ignores (Unicode's Final_Sigma). */
const endsWord = (characters: readonly string[], at: number): boolean =>
  isCasedFrom(characters, at - 1, -1) && !isCasedFrom(characters, at + 1, 1)

const isCasedFrom = (characters: readonly string[], start: number, step: number): boolean => {
  let at = start
  while (CASE_IGNORABLE.test(characters[at] ?? '')) at += step
  return CASED.test(characters[at] ?? '')
}
