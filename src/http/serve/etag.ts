import { createHash } from 'node:crypto'

import fresh from 'fresh'

/** The strong ETag of what a text, such as a revision, tells apart. */
export const quoteTag = (text: string): string => `"${text}"`

/** The strong ETag of an answer of which only the bytes tell whether it has changed. */
export const tagOfBytes = (text: string): string =>
  quoteTag(createHash('sha256').update(text).digest('base64url').slice(0, 27))

/**
 * Whether the caller has what has this ETag already. Cache-Control is left out of the question: fetch sends `no-cache`
 * with every If-None-Match that a page sets, and express then never answers 304.
 */
export const isKnown = (ifNoneMatch: string | undefined, etag: string | undefined): boolean =>
  etag !== undefined && fresh({ 'if-none-match': ifNoneMatch }, { etag })

/**
 * The row revision that If-Match demands: undefined when it demands none, -1, which no row has, when it names others only.
 * ETags begin with the row's revision; weak ones never match (RFC 9110).
 */
export const demandedRev = (ifMatch: string | undefined, rev: number): number | undefined => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const isNamed = ifMatch
    .split(',')
    .some((tag) => /^"(\d+)(?:\.[\d.]*)?"$/.exec(tag.trim())?.[1] === `${rev}`)
  return isNamed ? rev : -1
}
