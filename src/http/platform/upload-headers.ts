import type { IncomingHttpHeaders } from 'node:http'

import { errors, shown } from '../../domain/shared/errors.ts'

/** Refuses a part, which would be kept as the whole file (RFC 9110, 14.5). */
export const requireWhole = ({ 'content-range': range }: IncomingHttpHeaders): void => {
  if (range === undefined) return
  const fault = `Content-Range must be absent: an upload is sent whole, got ${shown(range)}`
  throw errors.validationFailed([fault])
}

export interface GivenDigest {
  header: string
  /** Lower-case hex. */
  sha256: string
}

/**
 * The SHA-256 of Repr-Digest and Content-Digest (RFC 9530) and of Digest, which many write in hex. Other algorithms are
 * left out. Throws validation_failed for what is not of its form.
 */
export const readDigests = (headers: IncomingHttpHeaders): GivenDigest[] =>
  ['Repr-Digest', 'Content-Digest', 'Digest'].flatMap((header) =>
    String(headers[header.toLowerCase()] ?? '')
      .split(',')
      .map((member) => member.trim())
      .filter((member) => /^sha-256(?![^\s=;])/i.test(member))
      .map((member) => ({ header, sha256: readDigest(header, member) })),
  )

const BASE64 = /^sha-256=(:?)([a-z0-9+/]{43}=?)\1$/i
const HEX = /^sha-256=([0-9a-f]{64})$/i

const readDigest = (header: string, member: string): string => {
  const base64 = BASE64.exec(member)?.[2]
  if (base64 !== undefined) return Buffer.from(base64, 'base64').toString('hex')
  const hex = header === 'Digest' ? HEX.exec(member)?.[1] : undefined
  if (hex !== undefined) return hex.toLowerCase()
  const form =
    header === 'Digest' ? 'sha-256=<32 bytes in Base64>' : 'sha-256=:<32 bytes in Base64>:'
  throw errors.validationFailed([`${header} must have the form ${form}, got ${shown(member)}`])
}
