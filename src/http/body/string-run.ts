/** Finds the closing quote in a piece from inside a JSON string; the length of the piece when it has none. */
export const findStringEnd = (piece: string): number => {
  let at = piece.indexOf('"')
  while (at !== -1 && isEscaped(piece, at)) at = piece.indexOf('"', at + 1)
  return at === -1 ? piece.length : at
}

/**
 * The text of a piece from inside a JSON string.
 *
 * @throws Error for a raw control character or an unknown escape.
 */
export const unescape = (piece: string): string => {
  try {
    return JSON.parse(`"${piece}"`) as string
  } catch (cause) {
    throw new Error('a string holds a raw control character or an unknown escape', { cause })
  }
}

/** Length of a text that is readable without what follows: all but an escape cut by the end, or the first of a pair. */
export const completeLength = (text: string): number => {
  const cutEscape = CUT_ESCAPE.exec(text.slice(1 - ESCAPE_LENGTH))?.[0].length ?? 0
  const end = text.length - (isEscaped(text, text.length - cutEscape) ? 0 : cutEscape)
  const high = end - ESCAPE_LENGTH
  if (high < 0 || !HIGH_SURROGATE.test(text.slice(high, end)) || isEscaped(text, high)) return end
  return high
}

const ESCAPE_LENGTH = 6
const CUT_ESCAPE = /\\(u[\da-f]{0,3})?$/i
const HIGH_SURROGATE = /^\\ud[89ab][\da-f]{2}$/i

/** True when the character at an index stands behind an odd number of backslashes. */
const isEscaped = (text: string, index: number): boolean => {
  let start = index
  while (start > 0 && text.charAt(start - 1) === '\\') start -= 1
  return (index - start) % 2 === 1
}
