import { createHmac, randomBytes } from 'node:crypto'

export interface WebhookMessage {
  /** The id of the event, the same for every attempt. It has no dot: dots separate what is signed. */
  id: string
  /** Unix seconds of the attempt. */
  timestamp: number
  /** The bytes that are sent, every one of them. */
  body: Uint8Array
  /** Each signs: two while one replaces the other. */
  secrets: readonly string[]
}

/** A new secret: `whsec_` and the Base64 of 32 random bytes. */
export const makeWebhookSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/**
 * Makes the three headers of Standard Webhooks 1.0. `<id>.<timestamp>.<body>` is signed; a subscriber takes the message
 * when any one of the signatures is right.
 * @throws Error when a secret is not of the form that `makeWebhookSecret` has.
 */
export const signWebhook = ({ id, timestamp, body, secrets }: WebhookMessage) => {
  const seconds = String(Math.floor(timestamp))
  const signatures = secrets.map((secret) =>
    createHmac('sha256', decodeWebhookSecret(secret))
      .update(`${id}.${seconds}.`)
      .update(body)
      .digest('base64'),
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
  }
}

const PREFIX = 'whsec_'

/** Bytes that Standard Webhooks allows a key to have. */
const LEAST_BYTES = 24
const MAX_BYTES = 64

/**
 * Decodes the key of a secret. Also validates WEBHOOK_DEFAULT_SECRET, which an operator makes elsewhere.
 * @throws Error that says how to make a secret, and never holds the one given.
 */
export const decodeWebhookSecret = (secret: string): Buffer => {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : ''
  const key = Buffer.from(text, 'base64')
  // Buffer.from skips what is not Base64, so only encoding it again shows whether all of it was.
  if (key.length < LEAST_BYTES || key.length > MAX_BYTES || key.toString('base64') !== text)
    throw new Error(
      'a webhook secret must be whsec_ and the Base64 of 24 to 64 bytes: make one with `echo "whsec_$(openssl rand -base64 32)"`',
    )
  return key
}
