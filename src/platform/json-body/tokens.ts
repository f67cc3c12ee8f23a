import { jsonParser, type Token } from 'stream-json/core/parser.js'

export type { Token }

/** Text in, tokens out; a piece may end anywhere. Throws a plain Error that says what was expected. */
export type Tokenizer = (text: string) => readonly Token[]

/**
 * stream-json's tokenizer alone, without its stream front. That front replaces invalid UTF-8 and drops a byte order
 * mark, and its Node streams wrap each token in an object-mode write.
 *
 * Nothing is packed by stream-json, because it packs without a limit: keys, numbers and strings arrive in pieces and
 * whoever joins them counts. Its grammar follows RFC 8259 (control characters, leading zeros and commas are
 * rejected); depth, repeated keys, infinite numbers and lone surrogates are left to the assembler.
 *
 * When a string goes on from the piece before, stream-json is not shown it up to its closing quote. It would cut the
 * string at every escape: a body of Base64 in lines or with `\/` in it (PHP writes it so) ran at 80 MB/s in place of
 * 300.
 */
export const makeTokenizer = (): Tokenizer => {
  const parse = jsonParser({ packValues: false, streamValues: true })
  let rest = ''
  let inString = false

  const tokenize = (text: string): Token[] => {
    const result = text === '' ? undefined : parse(text)
    // Its "nothing yet" is a symbol.
    const tokens = typeof result === 'object' ? result.values : []
    const last = tokens.at(-1)
    if (last !== undefined)
      inString = STRING_BEGUN.has(last.name) && !UNDECIDED.test(text.slice(-6))
    return tokens
  }

  return (text) => {
    const known = rest + text
    const complete = completeLength(known)
    rest = known.slice(complete)
    const piece = known.slice(0, complete)
    if (!inString) return tokenize(piece)

    const end = findStringEnd(piece)
    const run: Token = { name: 'stringChunk', value: unescape(piece.slice(0, end)) }
    return [run, ...tokenize(piece.slice(end))]
  }
}

/** When one of these comes last, the next character belongs to a string or key. */
const STRING_BEGUN = new Set<string>(['startString', 'startKey', 'stringChunk'])

// stream-json rejects a character of a string only once it has seen the six characters that follow. Until then it must
// be shown what follows.
const UNDECIDED = /\p{Cc}|\\[^"\\/bfnrtu]|\\u(?![\da-f]{4})/iu

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
