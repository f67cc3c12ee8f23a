import { createHash } from 'node:crypto'

import { replaceInline, type InlineImage } from './inline.ts'

/** SHA-256 of what a request means: equal for equal requests, whatever their spelling. */
export const fingerprintOf = (query: string, canonical: string): string =>
  createHash('sha256').update(`${query}\n${canonical}`).digest('hex')

/**
 * The one text of a JSON value: members sorted by UTF-16 code units, no blanks, numbers and strings as `JSON.stringify`
 * writes them. Two bodies that mean the same have the same text, so its hash may serve as a fingerprint.
 */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/**
 * The canonical text of a body, each inline image in it represented by the hash of its decoded bytes: what
 * Idempotency-Key compares. Image issues are part of it, so that a broken upload never equals a good one.
 */
export const canonicalBody = (value: unknown, inline: readonly InlineImage[]): string =>
  canonicalJson(
    replaceInline(value, inline, ({ sha256, issue: error }) => ({
      sha256,
      ...(error && { issue: error.message }),
    })),
  )
