import type { Secrets } from '../../platform/adapters/secrets.ts'

/** Marks the ciphertext, so that one copied from another table does not decrypt here. */
const CONTEXT = 'endpoint-headers'

export type EndpointHeaders = ReturnType<typeof makeEndpointHeaders>

/** Makes what encrypts the own headers of webhook subscriptions: their values are secrets. */
export const makeEndpointHeaders = (secrets: Secrets) => ({
  encrypt: (headers: Readonly<Record<string, string>>): string =>
    secrets.encrypt(JSON.stringify(headers), CONTEXT),
  decrypt: (encrypted: string): Record<string, string> =>
    JSON.parse(secrets.decrypt(encrypted, CONTEXT)) as Record<string, string>,
})
