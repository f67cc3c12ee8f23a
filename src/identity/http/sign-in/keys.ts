import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK, type JWTVerifyGetKey } from 'jose'

import { CONTEXTS, type Secrets } from '../../../platform/adapters/secrets.ts'
import type { Sql } from '../../../platform/db/client.ts'
import { ensureKey, listKeys } from '../../db/key.ts'

export const ALGORITHM = 'ES256'

/** Keys of the tokens that Kiln signs itself. */
export interface SigningKeys {
  /** Private JWKs; the first signs. */
  readonly jwks: readonly JWK[]
  /** Verifies, as the key set of any issuer does. */
  verify: JWTVerifyGetKey
  /** Makes the key of a new period, and reads the keys that others made. Returns true when the keys have changed. */
  renew(): Promise<boolean>
}

/**
 * Reads the signing keys, and makes the first. A new one signs an hour after it was made: all processes have it by then,
 * and whoever else keeps the key set.
 */
export const makeSigningKeys = async ({
  sql,
  secrets,
}: {
  sql: Sql
  secrets: Secrets
}): Promise<SigningKeys> => {
  const make = async (period: string): Promise<string> => {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    return secrets.encrypt(JSON.stringify(await exportJWK(privateKey)), CONTEXTS.signInKey(period))
  }
  const read = async (): Promise<JWK[]> => {
    await ensureKey(sql, make)
    const rows = await listKeys(sql)
    // A key that not everybody has yet comes last, unless it is the only one.
    const ordered = rows.toSorted((a, b) => Number(b.isKnown) - Number(a.isKnown))
    return ordered.map(({ period, privateKey }) => ({
      ...(JSON.parse(secrets.decrypt(privateKey, CONTEXTS.signInKey(period))) as JWK),
      kid: period,
      alg: ALGORITHM,
      use: 'sig',
    }))
  }
  let jwks = await read()
  let local = createLocalJWKSet({ keys: jwks.map(publicPart) })
  return {
    get jwks() {
      return jwks
    },
    verify: (header, token) => local(header, token),
    renew: async () => {
      const next = await read()
      if (JSON.stringify(next) === JSON.stringify(jwks)) return false
      jwks = next
      local = createLocalJWKSet({ keys: jwks.map(publicPart) })
      return true
    },
  }
}

const publicPart = ({ d: _private, ...rest }: JWK): JWK => rest
