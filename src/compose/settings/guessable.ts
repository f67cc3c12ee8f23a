/** Keys that are printed in public: the example secret of Standard Webhooks. */
const KNOWN: ReadonlySet<string> = new Set(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])

/** The form of Base64 from 16 bytes on, behind the prefix that a secret of webhooks has. */
const BASE64 = /^(?:whsec_)?([A-Za-z0-9+/]{22,}={0,2})$/

/**
 * True when others know a key, or could guess it: it is printed somewhere, it is Base64 of a text, or too few of its
 * bytes, or of the steps from one to the next, differ. Of 24 random bytes fewer than 14 differ once in 10^9 keys.
 */
export const isGuessable = (key: string): boolean => {
  if (KNOWN.has(key)) return true
  const bytes = Buffer.from(BASE64.exec(key)?.[1] ?? '', 'base64')
  if (bytes.length < 24) return isUniform(Buffer.from(key), 6)
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f) || isUniform(bytes, 14)
}

/** True when fewer than `least` different bytes, or steps between neighbours, are in it. */
const isUniform = (bytes: Buffer, least: number): boolean => {
  const steps = bytes.subarray(1).map((byte, index) => byte - (bytes[index] ?? 0))
  return Math.min(new Set(bytes).size, new Set(steps).size) < least
}
