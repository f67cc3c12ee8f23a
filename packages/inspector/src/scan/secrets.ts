import { PLACEHOLDER, PRIVATE_KEY, SECRET_FORMS } from './data/secret-forms.ts'

/** Tokens in a text that look alive: prefix, length and entropy as their issuer has them, and no placeholder. */
export const findTokens = (text: string): { issuer: string; text: string }[] =>
  !HAS_LONG_WORD.test(text)
    ? []
    : SECRET_FORMS.flatMap(({ issuer, form, entropy }) =>
        [...text.matchAll(form)]
          .map(([token]) => token)
          .filter((token) => isAlive(token, entropy))
          .map((token) => ({ issuer, text: token })),
      )

/** Part of every form, and in few lines. */
const HAS_LONG_WORD = /[\w-]{20}/

/**
 * True when a text holds a private key with its body: at least two lines of base64, whose ends may be escaped.
 */
export const hasPrivateKey = (text: string): boolean => {
  const start = text.includes('PRIVATE KEY') ? text.search(PRIVATE_KEY) : -1
  if (start === -1) return false
  const body = text
    .slice(start, start + MAX_KEY)
    .replaceAll(/\\[nr]/g, '\n')
    .split('\n')
    .slice(1)
  const lines = body.map((line) => line.trim()).filter((line) => /^[A-Za-z0-9+/=]{32,}$/.test(line))
  return lines.join('').length >= MIN_KEY && entropyOf(lines.join('')) >= 4
}

const MAX_KEY = 4000

/** Two full lines; the shortest keys, of elliptic curves, have little more. */
const MIN_KEY = 100

const isAlive = (token: string, least: number): boolean =>
  !PLACEHOLDER.test(token) && entropyOf(token) >= least && !/(.)\1{4}/.test(token)

/** Shannon's entropy, in bits for each character. */
const entropyOf = (text: string): number => {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()]
    .map((count) => count / text.length)
    .reduce((sum, share) => sum - share * Math.log2(share), 0)
}

/** The text with every token cut to its first four characters, those of dead ones too. */
export const maskSecrets = (text: string): string =>
  SECRET_FORMS.reduce(
    (masked, { form }) => masked.replaceAll(form, (token) => `${token.slice(0, 4)}…`),
    text,
  )
