import { isAscii } from 'node:buffer'

import { apiError } from '../../domain/shared/errors.ts'

export interface Utf8Decoder {
  write: (bytes: Buffer) => string
  /** Finds a sequence cut off by the end. */
  end: () => void
}

/**
 * Decodes UTF-8 in pieces that may cut a sequence anywhere; a byte order mark is kept, for the parser to reject.
 *
 * @throws 400 `json_invalid` at the first byte that is not UTF-8.
 */
export const makeUtf8Decoder = (): Utf8Decoder => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  // The decoder holds no cut sequence as long as the piece before was ASCII.
  let afterAscii = true

  const decode = (bytes?: Buffer): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch (cause) {
      throw apiError('json_invalid', 'The body is not valid UTF-8.', { cause })
    }
  }

  return {
    write: (bytes) => {
      const ascii = isAscii(bytes)
      // ICU's streaming decoder is many times slower than a copy, and nearly all of a body with images is Base64.
      const text = ascii && afterAscii ? bytes.toString('latin1') : decode(bytes)
      afterAscii = ascii
      return text
    },
    end: () => void decode(),
  }
}
