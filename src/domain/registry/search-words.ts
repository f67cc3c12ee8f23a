/**
 * The words of the search index and of a search, in lower case. A text is indexed by its words cut at blanks only, the
 * same cut at every mark, and those cut again where the case changes: `KSampler-Advanced_v2` by itself, `ksampler`,
 * `advanced`, `v2`, `k`, `sampler`. A search asks for the beginning of such words.
 */

/** A word of the index is as long as the longest search, so that cutting it loses no match. */
const WORD_MAX = 200

/** All words by which a text is found, each once. */
export const indexWords = (text: string): string[] => {
  const wholes = text.split(BLANKS)
  const bare = text.split(OTHER_MARKS)
  const parts = bare.flatMap((piece) => piece.split(CASE_CHANGES))
  return distinct([...wholes, ...wholes.flatMap((whole) => whole.split(MARKS)), ...bare, ...parts])
}

/** The words of a search, each of which must begin a word of the index. One of marks alone is looked for as it is. */
export const searchWords = (text: string): string[] =>
  distinct(
    text.split(BLANKS).flatMap((whole) => {
      const pieces = whole.split(MARKS).filter((piece) => piece !== '')
      return pieces.length === 0 ? [whole] : pieces
    }),
  )

const BLANKS = /\s+/
const MARKS = /[-_./]+/
const OTHER_MARKS = /[^\p{L}\p{M}\p{N}]+/u
/** Before a capital after a small letter or digit, and before the last capital of a run: `XMLParser` is two words. */
const CASE_CHANGES = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u

const distinct = (words: readonly string[]): string[] => [
  ...new Set(words.filter((word) => word !== '').map((word) => cut(word.toLowerCase()))),
]

const cut = (word: string): string =>
  word.length <= WORD_MAX ? word : Array.from(word).slice(0, WORD_MAX).join('')
