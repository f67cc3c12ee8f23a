import { createHash } from 'node:crypto'

/** The strong ETag of what a text, such as a revision, tells apart. */
export const quoteTag = (text: string): string => `"${text}"`

/** The strong ETag of an answer of which only the bytes tell whether it has changed. */
export const tagOfBytes = (text: string): string =>
  quoteTag(createHash('sha256').update(text).digest('base64url').slice(0, 27))

/** Whether If-None-Match names what there is: the comparison is the weak one. */
export const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  ifNoneMatch !== undefined &&
  listTags(ifNoneMatch).some((tag) => ['*', etag, `W/${etag}`].includes(tag))

/**
 * The row revision that If-Match demands: undefined when it demands none, -1, which no row has, when it names others only.
 * ETags begin with the row's revision; weak ones never match (RFC 9110).
 */
export const demandedRev = (ifMatch: string | undefined, rev: number): number | undefined => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const isNamed = listTags(ifMatch).some(
    (tag) => /^"(\d+)(?:\.[\d.]*)?"$/.exec(tag)?.[1] === `${rev}`,
  )
  return isNamed ? rev : -1
}

const listTags = (header: string): string[] => header.split(',').map((tag) => tag.trim())
