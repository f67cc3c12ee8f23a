import CRC32 from 'crc-32'

/** Prefixes of our secrets: an API key acts for its owner, a personal access token publishes, a task token reads one task. */
export const CREDENTIAL_PREFIXES = {
  api_key: 'kiln_key_',
  personal_access_token: 'kiln_pat_',
  task_token: 'kiln_task_',
} as const

export type CredentialKind = keyof typeof CREDENTIAL_PREFIXES

/**
 * Makes a secret: prefix, 30 random base62 characters (178 bits), 6 of CRC-32 over all before them. `random` delivers
 * that many bytes of a cryptographic source.
 */
export const makeCredential = (
  kind: CredentialKind,
  random: (size: number) => Uint8Array,
): string => {
  const body = CREDENTIAL_PREFIXES[kind] + randomText(random)
  return body + checksum(body)
}

/**
 * The kind of a text with the form and checksum of a secret; undefined for any other, so that a mistyped or made-up one
 * is rejected without a look-up.
 */
export const credentialKind = (text: string): CredentialKind | undefined => {
  const [, start, body, sum] = FORM.exec(text) ?? []
  if (start === undefined || body === undefined || checksum(start + body) !== sum) return undefined
  return KINDS.find((kind) => CREDENTIAL_PREFIXES[kind] === start)
}

/** A secret as lists show it: prefix and last four characters. */
export const maskCredential = (kind: CredentialKind, last4: string): string =>
  `${CREDENTIAL_PREFIXES[kind]}…${last4}`

/** A text with every secret of ours in it masked, for one that was sent in the wrong place and comes back in a message. */
export const maskCredentials = (text: string): string => text.replaceAll(ANYWHERE, '$1…$2')

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 30
const SUM_LENGTH = 6
const KINDS = Object.keys(CREDENTIAL_PREFIXES) as CredentialKind[]
const FORM = /^(kiln_(?:key|pat|task)_)([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/
const ANYWHERE = /(kiln_(?:key|pat|task)_)[0-9A-Za-z]{32}([0-9A-Za-z]{4})/g

const randomText = (random: (size: number) => Uint8Array): string => {
  let text = ''
  while (text.length < RANDOM_LENGTH)
    for (const byte of random(RANDOM_LENGTH - text.length))
      // 248 = 4 × 62: higher bytes would make the first eight characters likelier.
      if (byte < 248) text += BASE62.charAt(byte % 62)
  return text
}

const checksum = (body: string): string => {
  let rest = CRC32.bstr(body) >>> 0
  let text = ''
  while (text.length < SUM_LENGTH) {
    text = BASE62.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}
