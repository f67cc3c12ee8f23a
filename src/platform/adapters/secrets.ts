import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** No key of SECRETS_KEYS opens a ciphertext. */
export class LostSecretError extends Error {
  override name = 'LostSecretError'
}

/** Contexts of all that is encrypted: the places that ciphertexts belong to, which never change. */
export const CONTEXTS = {
  signInKey: (period: string) => `sign_in_key ${period}`,
  signInRecord: (model: string, id: string) => `sign_in_record ${model} ${id}`,
  webhookSecret: () => 'webhook-secret',
  endpointHeaders: () => 'endpoint-headers',
  response: () => 'idempotency',
}

export type Secrets = ReturnType<typeof makeSecrets>

/**
 * Encrypts what must not stand in a table in clear: AES-256-GCM with a random nonce, as
 * `v1.` + base64url of nonce, tag and ciphertext. `context`, one of CONTEXTS, names the place the value belongs
 * to (table and row); a value moved to another place does not decrypt. A random nonce of 96 bits is safe for 2^32 values of one key.
 */
export const makeSecrets = ({ keys }: { keys: string[] }) => {
  const secrets = decodeKeys('SECRETS_KEYS', keys)

  const find = (encrypted: string, context: string): string | undefined => {
    for (const key of secrets) {
      const plain = open(key, encrypted, context)
      if (plain !== undefined) return plain
    }
    return undefined
  }

  const encrypt = (plain: string, context: string): string => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, secrets[0], nonce).setAAD(Buffer.from(context))
    const bytes = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64url')
  }

  /** Tries every key. Throws when none fits: altered, of another context, or its key was taken from SECRETS_KEYS. */
  const decrypt = (encrypted: string, context: string): string => {
    const plain = find(encrypted, context)
    if (plain !== undefined) return plain
    throw new LostSecretError(
      `no key of SECRETS_KEYS opens the secret of ${context}: a key that was in use must stay in the list, behind the new one`,
    )
  }

  /** True when a key opens it. */
  const opens = (encrypted: string, context: string): boolean =>
    find(encrypted, context) !== undefined

  return { encrypt, decrypt, opens }
}

const ALGORITHM = 'aes-256-gcm'
const VERSION = 'v1.'
const NONCE_BYTES = 12
const TAG_BYTES = 16

const open = (key: Buffer, encrypted: string, context: string): string | undefined => {
  if (!encrypted.startsWith(VERSION)) return undefined
  const bytes = Buffer.from(encrypted.slice(VERSION.length), 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Decodes the keys of a setting. Throws, naming the setting and the next step, unless each has 32 bytes. */
export const decodeKeys = (setting: string, keys: string[]): [Buffer, ...Buffer[]] => {
  const [first, ...others] = keys.map((key) => Buffer.from(key, 'base64'))
  if (first === undefined || [first, ...others].some((key) => key.length !== 32))
    throw new Error(
      `${setting} must hold keys of 32 bytes in Base64: make one with \`openssl rand -base64 32\``,
    )
  return [first, ...others]
}
