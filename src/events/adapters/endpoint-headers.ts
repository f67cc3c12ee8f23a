import { CONTEXTS, type Secrets } from '../../platform/adapters/secrets.ts'

export type EndpointHeaders = ReturnType<typeof makeEndpointHeaders>

/** Makes what encrypts the own headers of webhook subscriptions: their values are secrets. */
export const makeEndpointHeaders = (secrets: Secrets) => ({
  encrypt: (headers: Readonly<Record<string, string>>): string =>
    secrets.encrypt(JSON.stringify(headers), CONTEXTS.endpointHeaders()),
  decrypt: (encrypted: string): Record<string, string> =>
    JSON.parse(secrets.decrypt(encrypted, CONTEXTS.endpointHeaders())) as Record<string, string>,
})
