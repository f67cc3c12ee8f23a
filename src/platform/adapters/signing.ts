import { createHmac, timingSafeEqual } from 'node:crypto'

import { decodeKeys } from './secrets.ts'

export interface SignerOptions {
  /** Base64 of 32 bytes each; the first signs, all verify. */
  keys: string[]
  /** Start of every link, with or without a path of its own. */
  publicUrl: string
  /** Least life of a file link. */
  linkSeconds: number
}

/** Members of a file link. Each is still text, as the request brought it. */
export interface FileClaim {
  id: string
  name: string
  expires: string
  signature: string
}

export interface UploadClaim {
  id: string
  expires: string
  max: string
  signature: string
}

export interface UploadGrant {
  id: string
  /** Unix seconds. */
  expires: number
  /** Most bytes that may be sent. */
  max: number
}

export type Signer = ReturnType<typeof makeSigner>

/**
 * Makes and verifies the links of this service: `{PUBLIC_URL}/files/<id>/<name>?expires=<unix>&signature=<base64url>`
 * and `{PUBLIC_URL}/uploads/<id>?expires=&max=&signature=`. Upload links for inputs of tasks and for archives of
 * versions look alike; only the signature says which one a link is for. The signature is HMAC-SHA256. It is checked
 * before the expiry, so that a forged link reveals nothing. A malformed signature counts as a wrong one.
 */
export const makeSigner = ({ keys, publicUrl, linkSeconds }: SignerOptions) => {
  const secrets = decodeKeys('SIGNING_KEYS', keys)
  const base = publicUrl.replace(/\/+$/, '')
  const sign = (facts: Facts) => signWith(secrets[0], facts)

  /**
   * Unix seconds at which a file link made now ends: on a full hour, so that all links made within one hour are equal
   * byte for byte (a cache or an ETag may rely on it), and never less than `linkSeconds` away.
   */
  const linkExpiry = (now: Date): number =>
    (Math.floor((seconds(now) + linkSeconds) / HOUR) + 1) * HOUR

  const signFile = (id: string, name: string, now: Date): string => {
    const expires = linkExpiry(now)
    const path = `${encodeURIComponent(id)}/${encodeURIComponent(name)}`
    const signature = sign(fileFacts(id, name, String(expires)))
    return `${base}/files/${path}?expires=${expires}&signature=${signature}`
  }

  const verifyFile = (claim: FileClaim, now: Date): 'ok' | 'signature_invalid' | 'link_expired' => {
    const facts = fileFacts(claim.id, claim.name, claim.expires)
    if (!isSigned(secrets, facts, claim.signature)) return 'signature_invalid'
    return seconds(now) < Number(claim.expires) ? 'ok' : 'link_expired'
  }

  /** Makes a link to read a path that needs a credential without one, such as the archive of a version. */
  const signRead = (path: string, now: Date): string => {
    const expires = linkExpiry(now)
    return `${base}${path}?expires=${expires}&signature=${sign(readFacts(path, String(expires)))}`
  }

  /** True for the path and query of such a link that has not ended. */
  const isSignedRead = (target: string, now: Date): boolean => {
    const [path = '', text] = target.split('?')
    const query = new URLSearchParams(text)
    const [expires = '', signature = ''] = ['expires', 'signature'].map((key) => single(query, key))
    const isOwn = isSigned(secrets, readFacts(path, expires), signature)
    return isOwn && seconds(now) < Number(expires)
  }

  const makeUploadSigner =
    (factsOf: UploadFacts) =>
    ({ id, expires, max }: UploadGrant): string => {
      const signature = sign(factsOf(id, String(expires), String(max)))
      return `${base}/uploads/${encodeURIComponent(id)}?expires=${expires}&max=${max}&signature=${signature}`
    }

  const makeUploadVerifier =
    (factsOf: UploadFacts) =>
    (claim: UploadClaim, now: Date): 'ok' | 'signature_invalid' | 'upload_expired' => {
      const facts = factsOf(claim.id, claim.expires, claim.max)
      if (!isSigned(secrets, facts, claim.signature)) return 'signature_invalid'
      return seconds(now) < Number(claim.expires) ? 'ok' : 'upload_expired'
    }

  /**
   * Reads a file link of this service: what it names, or `bad` when the link is wrong or expired; `upload` for a link
   * to which bytes are PUT. Undefined for any other URL.
   */
  const parseOwnLink = (
    text: string,
    now: Date,
  ): { id: string; name: string } | 'bad' | 'upload' | undefined => {
    if (readOwnLink(`${base}/uploads/`, text) !== undefined) return 'upload'
    const claim = readOwnLink(`${base}/files/`, text)
    if (claim === undefined || claim === 'bad') return claim
    return verifyFile(claim, now) === 'ok' ? { id: claim.id, name: claim.name } : 'bad'
  }

  /** Names what a signed link of this service leads to: the same for all links to it. Undefined for any other text. */
  const nameLink = (text: string): string | undefined => {
    if (!text.includes('signature=') || !URL.canParse(text)) return undefined
    const [own, url] = [new URL(`${base}/`), new URL(text)]
    const isOwn = url.origin === own.origin && url.pathname.startsWith(own.pathname)
    return isOwn && url.searchParams.has('signature')
      ? text.trim().replace(/[?#].*$/s, '')
      : undefined
  }

  /** Address to which an engine sends what it says of the prediction of a placement. Its secret stands in it. */
  const signPrediction = (id: string): string =>
    `${base}/engines/predictions/${id}/${sign(predictionFacts(id))}`

  return {
    linkExpiry,
    signFile,
    verifyFile,
    signRead,
    isSignedRead,
    signUpload: makeUploadSigner(uploadFacts),
    verifyUpload: makeUploadVerifier(uploadFacts),
    /** Signs the upload link for the archive of a version, by the version's id. */
    signArchive: makeUploadSigner(archiveFacts),
    verifyArchive: makeUploadVerifier(archiveFacts),
    parseOwnLink,
    nameLink,
    signPrediction,
    verifyPrediction: (id: string, signature: string): boolean =>
      isSigned(secrets, predictionFacts(id), signature),
  }
}

type Facts = readonly string[]
type UploadFacts = (id: string, expires: string, max: string) => Facts

const HOUR = 3600

const seconds = (now: Date): number => now.getTime() / 1000

// The first member keeps a signature for one purpose from serving another.
const fileFacts = (id: string, name: string, expires: string): Facts => ['file', id, name, expires]
const readFacts = (path: string, expires: string): Facts => ['read', decode(path) ?? '', expires]
const uploadFacts: UploadFacts = (id, ...limits) => ['upload', 'PUT', `uploads/${id}`, ...limits]
const archiveFacts: UploadFacts = (id, ...limits) => ['archive', 'PUT', `uploads/${id}`, ...limits]

const predictionFacts = (id: string): Facts => ['prediction', 'POST', id]

// JSON keeps the facts apart whatever they hold; joined text would let one end where the next begins.
const signWith = (key: Buffer, facts: Facts): string =>
  createHmac('sha256', key).update(JSON.stringify(facts)).digest('base64url')

/** Compares the text, not the bytes it decodes to: the last character has two bits that decoding ignores. */
const isSigned = (keys: Buffer[], facts: Facts, signature: string): boolean => {
  if (!/^[\w-]{43}$/.test(signature)) return false
  const given = Buffer.from(signature)
  return keys
    .map((key) => timingSafeEqual(Buffer.from(signWith(key, facts)), given))
    .some((same) => same)
}

const readOwnLink = (start: string, text: string): FileClaim | 'bad' | undefined => {
  if (!URL.canParse(text)) return undefined
  const own = new URL(start)
  const url = new URL(text)
  if (url.origin !== own.origin || !url.pathname.startsWith(own.pathname)) return undefined
  const parts = url.pathname.slice(own.pathname.length).split('/').map(decode)
  const [id, name] = parts
  const [expires, signature] = ['expires', 'signature'].map((key) => single(url.searchParams, key))
  if (parts.length !== 2 || url.username !== '' || url.password !== '') return 'bad'
  return id && name && expires && signature ? { id, name, expires, signature } : 'bad'
}

const single = (query: URLSearchParams, key: string): string | undefined => {
  const values = query.getAll(key)
  return values.length === 1 ? values[0] : undefined
}

const decode = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
