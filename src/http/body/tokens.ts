import { jsonParser, type Token } from 'stream-json/core/parser.js'

import { completeLength, findStringEnd, unescape } from './string-run.ts'

export type { Token }

/** Text in, tokens out; a piece may end anywhere. Throws a plain Error that says what was expected. */
export type Tokenizer = (text: string) => readonly Token[]

/**
 * stream-json's tokenizer alone, without its stream front. That front replaces invalid UTF-8 and drops a byte order
 * mark, and its Node streams wrap each token in an object-mode write.
 *
 * Nothing is packed by stream-json, because it packs without a limit: keys, numbers and strings arrive in pieces and
 * whoever joins them counts. Its grammar is that of RFC 8259 (control characters, leading zeros and commas are
 * rejected); depth, repeated keys, infinite numbers and lone surrogates are left to the assembler.
 *
 * When a string goes on from the piece before, stream-json is not shown it up to its closing quote. It would cut the
 * string at every escape: a body of Base64 in lines or with `\/` in it (PHP writes it so) ran at 80 MB/s in place of
 * 300.
 */
export const makeTokenizer = (): Tokenizer => {
  const parse = jsonParser({ packValues: false, streamValues: true })
  let held = ''
  let inString = false

  const tokenize = (text: string): Token[] => {
    const result = text === '' ? undefined : parse(text)
    // Its "nothing yet" is a symbol.
    const tokens = typeof result === 'object' ? result.values : []
    const last = tokens.at(-1)
    if (last !== undefined) {
      inString = STRING_BEGUN.has(last.name) && !UNDECIDED.test(text.slice(-6))
    }
    return tokens
  }

  return (text) => {
    const known = held + text
    const complete = completeLength(known)
    held = known.slice(complete)
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
