/**
 * Patterns that callers see of texts that are validated elsewhere, with codes of their own. A pattern takes all that
 * the validator takes. No pattern can say the rest: which hosts and ports are called, and whether bytes are an image.
 */

/** A pattern of a word in capitals, small letters, or both. */
export const inAnyCase = (word: string): string =>
  word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)

const URL_TEXT = `${inAnyCase('http')}[sS]?:[^\\s\\\\\\u0000-\\u001f\\u007f-\\u009f]+`
const BLANK = ' \\t\\r\\n'
/** A URL as callers type it: blanks at its ends are cut. */
const HTTP = `[${BLANK}]*${URL_TEXT}[${BLANK}]*`
const BASE64 = `[A-Za-z0-9+/_${BLANK}-]+[=${BLANK}]*`
const DATA = `${inAnyCase('data')}:[^,]*;\\s*${inAnyCase('base')}64\\s*,${BASE64}`

/** Most characters of an address that this service is to call: links with temporary credentials are long. */
export const ADDRESS_MAX = 8_192

/** An address that this service is to call. */
export const ADDRESS_PATTERN = `^${HTTP}$`

/** An image: Base64, a data: URI, or an address. */
export const IMAGE_PATTERN = `^(?:${HTTP}|${DATA}|${BASE64})$`

/** Removes the query of a webhook URL, which may be a secret. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '')

/** Shortens a webhook URL to its origin, for whoever is not its owner: many services have their secret in the path. */
export const originOf = (url: string): string => new URL(url).origin
