import { ArgumentError } from './argument.ts'

/** Why a message was not taken. */
export type WebhookIssue = 'headers_missing' | 'not_of_now' | 'signature_wrong'

/** A message that this service did not sign for you, or too long ago. Respond with 401. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookIssue

  constructor(code: WebhookIssue, message: string) {
    super(message)
    this.code = code
  }
}

export interface WebhookEvent<Body = unknown> {
  /** The same over every retry and redelivery: keep it, to handle an event once. */
  id: string
  /** Number of the move within its task; later moves have higher ones. */
  sequence: number
  /** When this attempt was sent. */
  sentAt: Date
  body: Body
}

export interface WebhookRequest {
  /** As they came: a `Headers`, or an object with names in lower case, as Node's servers have them. */
  headers: Headers | Record<string, string | string[] | undefined>
  /** The bytes as they came. What was parsed and written again has another signature. */
  body: string | Uint8Array
}

/** Seconds that the clocks of both sides may differ. */
const TOLERANCE_SECONDS = 300

/** Verifies a message, which any of the `whsec_…` secrets may have signed, and reads it. Throws a WebhookError, or an ArgumentError for a malformed secret. */
export const verifyWebhook = async <Body = unknown>(
  secrets: string | readonly string[],
  { headers, body }: WebhookRequest,
): Promise<WebhookEvent<Body>> => {
  const keys = [secrets].flat().map(readSecret)
  if (keys.length === 0) throw new ArgumentError('secrets must have one at least')
  const read = (name: string): string =>
    (headers instanceof Headers ? headers.get(name) : headers[name])?.toString() ?? ''
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(read)
  if (!id || !time || !signatures)
    throw new WebhookError('headers_missing', 'webhook-id, -timestamp or -signature is missing')
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS))
    throw new WebhookError('not_of_now', 'webhook-timestamp is not of these five minutes')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = new TextEncoder().encode(`${id}.${time}.${text}`)
  if (!(await isSigned(keys, signatures, signed)))
    throw new WebhookError('signature_wrong', 'no signature is of this secret')
  return {
    id,
    sequence: Number(read('webhook-sequence')),
    sentAt: new Date(Number(time) * 1000),
    body: JSON.parse(text) as Body,
  }
}

/** `subtle.verify` takes as long for every wrong signature. */
const isSigned = async (
  keys: readonly Uint8Array<ArrayBuffer>[],
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const given = signatures.split(' ').flatMap((text) => decode(/^v1,(.+)$/.exec(text)?.[1]))
  for (const bytes of keys) {
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify'])
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  }
  return false
}

const readSecret = (secret: unknown): Uint8Array<ArrayBuffer> => {
  const isWhole = typeof secret === 'string' && !/\s/.test(secret)
  const [bytes] = isWhole ? decode(secret.replace(/^whsec_/, '')) : []
  if (bytes?.length) return bytes
  throw new ArgumentError('secrets must be whsec_ and Base64, without a line end')
}

const decode = (base64: string | undefined): Uint8Array<ArrayBuffer>[] => {
  if (base64 === undefined) return []
  try {
    return [Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))]
  } catch {
    return []
  }
}
