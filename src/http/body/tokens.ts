import { jsonParser } from 'stream-json/core/parser.js'
import type { Token } from 'stream-json/core/parser.js'

export type { Token }

/** Text in, tokens out; a piece may end anywhere. Throws a plain Error that says what was expected. */
export type Tokenizer = (text: string) => readonly Token[]

/**
 * stream-json's tokenizer alone, without its stream front. That front replaces invalid UTF-8 and drops a byte order
 * mark, and its Node streams wrap each token in an object-mode write.
 *
 * Nothing is packed by stream-json, because it packs without a limit: keys, numbers and strings arrive in pieces and
 * whoever joins them counts. Its grammar is that of RFC 8259 (control characters, leading zeros and commas are refused);
 * depth, repeated keys, infinite numbers and lone surrogates are left to the assembler.
 */
export const makeTokenizer = (): Tokenizer => {
  const parse = jsonParser({ packValues: false, streamValues: true })
  return (text) => {
    const result = parse(text)
    // Its "nothing yet" is a symbol.
    return typeof result === 'symbol' ? [] : result.values
  }
}
