import { parseObject } from '../domain/is-object.ts'

/** A text as PostgreSQL takes it: what it rejects, NUL and lone surrogates, is the replacement character. */
export const toStorable = (text: string): string =>
  new TextDecoder().decode(new TextEncoder().encode(text)).replaceAll('\0', '\u{fffd}')

/** Reads a JSON object of another service, all of whose texts PostgreSQL takes; undefined where a text is none. */
export const parseStorable = (text: string): Record<string, unknown> | undefined =>
  parseObject(text.replaceAll(ESCAPES, (found) => (found.length === 6 ? '\\ufffd' : found)))

/** Escapes of NUL and of lone surrogates, which JSON has in no other form; and what looks like them: `\\`, whole pairs. */
const ESCAPES = /\\\\|\\u0000|\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|\\ud[89a-f][\da-f]{2}/gi
