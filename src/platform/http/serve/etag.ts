import { createHash } from 'node:crypto'

import fresh from 'fresh'

/** Makes a strong ETag of a text that changes with the response, such as a revision. */
export const quoteTag = (text: string): string => `"${text}"`

/** Makes the strong ETag of a response from its bytes, where nothing else shows whether it has changed. */
export const tagOfBytes = (text: string): string => quoteTag(digestOf(text))

/** Makes the ETag of a response that shows more than one row; If-Match finds the row's revision in it. */
export const tagOfRow = (rev: number, text: string): string => quoteTag(`${rev}.${digestOf(text)}`)

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 27)

/**
 * True when If-None-Match names this ETag. Cache-Control is left out: fetch sends `no-cache` with every If-None-Match
 * that a page sets, and `fresh` would then never allow a 304.
 */
export const isKnown = (ifNoneMatch: string | undefined, etag: string | undefined): boolean =>
  etag !== undefined && fresh({ 'if-none-match': ifNoneMatch }, { etag })

/**
 * The row revision that If-Match demands. Undefined: it demands none. -1, which no row has: it names other revisions
 * only. ETags begin with the row's revision; weak ones never match (RFC 9110).
 */
export const demandedRev = (ifMatch: string | undefined, rev: number): number | undefined => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const isNamed = ifMatch
    .split(',')
    .some((tag) => /^"(\d+)(?:\.[\w.-]*)?"$/.exec(tag.trim())?.[1] === `${rev}`)
  return isNamed ? rev : -1
}

/** True when If-Match is absent or allows changing what has this ETag. */
export const isAllowed = (ifMatch: string | undefined, etag: string): boolean =>
  ifMatch === undefined ||
  ifMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim() === etag)
