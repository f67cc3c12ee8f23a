import { isAscii } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Assembler } from './assembler.ts'
import type { ImageIntake } from './images.ts'
import type { BodySource } from './source.ts'
import { findPlace, PLACE_MAX } from './place.ts'
import { makeTokenizer, type Token, type Tokenizer } from './tokens.ts'
import { apiError, shown, type ApiError } from '../domain/errors.ts'

export interface ParseBodyParts {
  source: BodySource
  assembler: Assembler
  images: ImageIntake
  onProgress?: ((bytes: number) => void) | undefined
}

// Between two slices the event loop gets its turn. Base64 takes 0.05 ms for 16 KiB, a text of nothing but members 50
// times as long: a slice that took longer than this is followed by a smaller one, so that 32 of the worst bodies at once
// cost it some 16 ms a turn.
const SLICE_MS = 0.5
const MAX_BYTES = 16 * 1024
const LEAST_BYTES = 1024

/** Pulls a body through decoder, tokenizer and assembler to its end; gives its root value, or undefined for nothing but blanks. */
export const parseBody = async (parts: ParseBodyParts): Promise<{ value: unknown } | undefined> => {
  const { source, assembler, images, onProgress } = parts
  const decoder = makeUtf8Decoder()
  const tokenize = makeTokenizer()
  let size = MAX_BYTES
  let beginning = ''
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    onProgress?.(source.received())
    for (let at = 0; at < chunk.length;) {
      const slice = chunk.subarray(at, at + size)
      at += slice.length
      const start = performance.now()
      const text = decoder.write(slice)
      beginning = beginning.length > PLACE_MAX ? beginning : beginning + text
      assemble(text, { tokenize, assembler, beginning })
      size = nextSize(size, performance.now() - start)
      await images.flush()
      await nextTurn()
    }
  }
  decoder.end()
  // Blanks end a number or a literal and change nothing anywhere else. Eight of them, because the tokenizer waits for
  // the six characters of an escape before it says what is wrong in a string.
  const blanks = ' '.repeat(8)
  assemble(blanks, { tokenize, assembler, beginning: beginning + blanks })
  if (assembler.started() && assembler.found() === undefined)
    throw endedTooSoon(assembler.pointer())
  return assembler.found()
}

interface Assembling {
  tokenize: Tokenizer
  assembler: Assembler
  /** The body up to the end of the text, unless it is too long to be read again. */
  beginning: string
}

const assemble = (text: string, { tokenize, assembler, beginning }: Assembling): void => {
  let tokens: readonly Token[]
  try {
    tokens = tokenize(text)
  } catch (error) {
    throw malformed(error, beginning, assembler.pointer())
  }
  for (const token of tokens) assembler.take(token)
  assembler.flush()
}

const nextSize = (size: number, tookMs: number): number =>
  tookMs > SLICE_MS ? Math.max(LEAST_BYTES, size / 2) : Math.min(MAX_BYTES, size * 2)

interface Utf8Decoder {
  write: (bytes: Buffer) => string
  /** Finds a sequence cut off by the end. */
  end: () => void
}

/**
 * Decodes UTF-8 in pieces that may cut a sequence anywhere; a byte order mark is kept, for the parser to reject.
 *
 * @throws 400 `json_invalid` at the first byte that is not UTF-8.
 */
const makeUtf8Decoder = (): Utf8Decoder => {
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

export const bodyRequired = (): ApiError =>
  apiError('body_required', 'The body must be a JSON object; none was sent.')

export const notAnObject = (value: unknown): ApiError =>
  apiError('json_invalid', `The body must be a JSON object, not ${shown(value)}.`)

const endedTooSoon = (pointer: string): ApiError =>
  apiError('json_invalid', `The body ends before its JSON is complete${near(pointer)}.`)

/** Converts an error of the tokenizer, which says what it expected but not where. */
const malformed = (cause: unknown, beginning: string, pointer: string): ApiError => {
  const said = cause instanceof Error ? cause.message : ''
  const expected = said.replace(/^Parser (cannot parse input: |has )/, '')
  const what = beginning.startsWith('\uFEFF')
    ? 'it begins with a byte order mark, which must be left out'
    : (TOKENIZER_TERMS.get(expected) ?? expected)
  const place = beginning.length > PLACE_MAX ? undefined : findPlace(beginning)
  const where = place === undefined ? near(pointer) : ` at ${place}${near(pointer)}`
  return apiError('json_invalid', `The body is not well-formed JSON${where}: ${what}.`, { cause })
}

// Its term for anything in a string that does not match.
const TOKENIZER_TERMS = new Map([
  ['escaped characters', 'a string holds a raw control character or an unknown escape'],
])

/** Names the place to about 16 KiB: the last value understood before the slice with the error. */
const near = (pointer: string): string => (pointer === '' ? '' : ` (after ${shown(pointer)})`)
