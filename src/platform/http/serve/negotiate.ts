import type { IncomingHttpHeaders } from 'node:http'

import Negotiator from 'negotiator'

/** True when a client takes an encoding, by its Accept-Encoding. */
export const acceptsEncoding = (headers: IncomingHttpHeaders, encoding: string): boolean =>
  new Negotiator({ headers }).encoding([encoding]) === encoding

/** True for a browser that opens a page; programs that take anything get JSON. */
export const prefersHtml = (headers: IncomingHttpHeaders): boolean =>
  new Negotiator({ headers }).mediaType(['application/json', 'text/html']) === 'text/html'

/** Most languages of a header that count; browsers send fewer. */
const LANGUAGES_MAX = 10

/** Lists the languages of Accept-Language in lower case, the most wanted first. `*` asks for nothing. */
export const listLanguages = (headers: IncomingHttpHeaders): string[] =>
  new Negotiator({ headers })
    .languages()
    .filter((language) => language !== '*')
    .slice(0, LANGUAGES_MAX)
    .map((language) => language.toLowerCase())
