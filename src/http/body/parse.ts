import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Assembler } from './assembler.ts'
import type { ImageIntake } from './images.ts'
import { endedTooSoon, malformed } from './json-errors.ts'
import type { BodySource } from './source.ts'
import { makeTokenizer, type Token, type Tokenizer } from './tokens.ts'
import { makeUtf8Decoder } from './utf8.ts'

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
const MOST_BYTES = 16 * 1024
const LEAST_BYTES = 1024

/** Pulls a body through decoder, tokenizer and assembler to its end; gives its root value, or undefined for nothing but blanks. */
export const parseBody = async (parts: ParseBodyParts): Promise<{ value: unknown } | undefined> => {
  const { source, assembler, images, onProgress } = parts
  const decoder = makeUtf8Decoder()
  const tokenize = makeTokenizer()
  let size = MOST_BYTES
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    onProgress?.(source.received())
    for (let at = 0; at < chunk.length;) {
      const slice = chunk.subarray(at, at + size)
      at += slice.length
      const start = performance.now()
      assemble(decoder.write(slice), tokenize, assembler)
      size = nextSize(size, performance.now() - start)
      await images.flush()
      await nextTurn()
    }
  }
  decoder.end()
  // Blanks end a number or a literal and change nothing anywhere else. Eight of them, because the tokenizer waits for
  // the six characters of an escape before it says what is wrong in a string.
  assemble(' '.repeat(8), tokenize, assembler)
  if (assembler.started() && assembler.found() === undefined) {
    throw endedTooSoon(assembler.pointer())
  }
  return assembler.found()
}

const assemble = (text: string, tokenize: Tokenizer, assembler: Assembler): void => {
  let tokens: readonly Token[]
  try {
    tokens = tokenize(text)
  } catch (error) {
    throw malformed(error, assembler.pointer())
  }
  for (const token of tokens) assembler.take(token)
  assembler.flush()
}

const nextSize = (size: number, tookMs: number): number =>
  tookMs > SLICE_MS ? Math.max(LEAST_BYTES, size / 2) : Math.min(MOST_BYTES, size * 2)
