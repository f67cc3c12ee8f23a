import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Assembler } from './assembler.ts'
import type { ImageIntake } from './images.ts'
import { bodyRequired, endedTooSoon, malformed } from './json-faults.ts'
import type { BodySource } from './source.ts'
import { makeTokenizer } from './tokens.ts'
import type { Token, Tokenizer } from './tokens.ts'
import { makeUtf8Decoder } from './utf8.ts'

export interface ParseBodyParts {
  source: BodySource
  assembler: Assembler
  images: ImageIntake
  onProgress?: ((bytes: number) => void) | undefined
}

// Between two slices the event loop gets its turn, so that 32 bodies at once cost it 512 KiB of parsing a turn.
const SLICE_BYTES = 16 * 1024

/** Pulls a body through decoder, tokenizer and assembler to its end; gives its root value. */
export const parseBody = async (parts: ParseBodyParts): Promise<unknown> => {
  const { source, assembler, images, onProgress } = parts
  const decoder = makeUtf8Decoder()
  const tokenize = makeTokenizer()
  for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
    onProgress?.(source.received())
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      assemble(decoder.write(chunk.subarray(start, start + SLICE_BYTES)), tokenize, assembler)
      await images.flush()
      await nextTurn()
    }
  }
  decoder.end()
  // A blank ends a number or a literal, and changes nothing anywhere else.
  assemble(' ', tokenize, assembler)
  const found = assembler.found()
  if (found !== undefined) return found.value
  throw assembler.started() ? endedTooSoon(assembler.pointer()) : bodyRequired()
}

const assemble = (text: string, tokenize: Tokenizer, assembler: Assembler): void => {
  let tokens: readonly Token[]
  try {
    tokens = tokenize(text)
  } catch (error) {
    throw malformed(error, assembler.pointer())
  }
  for (const token of tokens) assembler.take(token)
  assembler.settle()
}
