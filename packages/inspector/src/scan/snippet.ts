import { maskSecrets } from './secrets.ts'

/** A source line as a finding shows it: trimmed, secrets cut to their first four characters, at most 200 characters. */
export const snippetOf = (line: string): string => {
  const text = maskSecrets(line.slice(0, MAX_READ)).replaceAll(UNPRINTABLE, ' ').trim()
  const characters = [...text]
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join('')}…` : text
}

const MAX_SHOWN = 200

/** A secret that starts in the part shown lies within this. */
const MAX_READ = 1000

/** Control characters, NUL above all, which PostgreSQL rejects, and lone surrogates. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/gu
