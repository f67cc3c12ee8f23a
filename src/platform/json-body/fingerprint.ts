import { createHash } from 'node:crypto'

import { replaceInline, type InlineImage } from './inline.ts'

/**
 * SHA-256 of what a request means, equal for equal requests, whatever their spelling. The first is saved; a second one is
 * that of its links as they are written, which earlier releases have saved.
 */
export type Fingerprints = readonly [string, string?]

/** Names what a signed link of this service leads to; undefined for any other text. */
export type NameLink = (text: string) => string | undefined

/** Makes the fingerprints of a request by its query and body. Links of this service count by their file. */
export const fingerprintsOf = (
  query: string,
  { value, inline }: { value: unknown; inline: readonly InlineImage[] },
  nameLink: NameLink,
): Fingerprints => {
  let hasLinks = false
  const named = canonicalBody(value, inline, (text) => {
    const name = nameLink(text)
    hasLinks ||= name !== undefined
    return name ?? text
  })
  const print = fingerprintOf(query, named)
  return hasLinks ? [print, fingerprintOf(query, canonicalBody(value, inline))] : [print]
}

export const fingerprintOf = (query: string, canonical: string): string =>
  createHash('sha256').update(`${query}\n${canonical}`).digest('hex')

/**
 * The one text of a JSON value: members sorted by UTF-16 code units, no blanks, numbers and strings as `JSON.stringify`
 * writes them, strings changed first. Two bodies that mean the same have the same text, so its hash may serve as a fingerprint.
 */
export const canonicalJson = (value: unknown, change = unchanged): string => {
  if (typeof value === 'string') return JSON.stringify(change(value))
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, change)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member, change)}`)
  return `{${members.join(',')}}`
}

const unchanged = (text: string): string => text

/**
 * The canonical text of a body, each inline image in it represented by the hash of its decoded bytes: what
 * Idempotency-Key compares. Image issues are part of it, so that a broken upload never equals a good one.
 */
export const canonicalBody = (
  value: unknown,
  inline: readonly InlineImage[],
  change = unchanged,
): string =>
  canonicalJson(
    replaceInline(value, inline, ({ sha256, issue: error }) => ({
      sha256,
      ...(error && { issue: error.message }),
    })),
    change,
  )
