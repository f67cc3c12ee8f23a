import type { JWTVerifyGetKey } from 'jose'

import { makeRecent } from '../../platform/domain/recent.ts'
import type { Log } from '../../platform/log.ts'
import { KEY_SET_LIMITS, makeKeySet } from './key-set.ts'
import type { Outbound } from '../../platform/outbound/client.ts'

/** Most issuers whose keys a process holds. */
const MAX_ISSUERS = 200

/**
 * Makes the look-up of the signing keys of any issuer that users name, which throws `auth_unavailable` while none are known. Its discovery document says where they are. Both are
 * fetched through the guarded client alone, and kept and fetched again as the keys of bearer tokens are.
 */
export const makeIssuerKeys = (outbound: Pick<Outbound, 'read'>, log: Pick<Log, 'warn'>) => {
  const keySets = makeRecent<JWTVerifyGetKey>(MAX_ISSUERS)
  const readJson = async (url: string, signal: AbortSignal): Promise<unknown> =>
    JSON.parse((await outbound.read({ url, signal, ...KEY_SET_LIMITS })).toString('utf8'))
  const make = (issuer: string): JWTVerifyGetKey =>
    makeKeySet({
      url: `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      log,
      fetch: async (url, { signal }) => {
        const { issuer: named, jwks_uri: keys } = Object(await readJson(url, signal)) as Discovery
        if (named !== issuer || typeof keys !== 'string')
          throw new Error('the discovery document is of another issuer, or names no key set')
        return Response.json(await readJson(keys, signal))
      },
    })
  return (issuer: string): JWTVerifyGetKey => {
    const keys = keySets.find(issuer) ?? make(issuer)
    // Kept again, so that where there are too many, the keys that nobody asks for go first.
    keySets.keep(issuer, keys)
    return keys
  }
}

export type IssuerKeys = ReturnType<typeof makeIssuerKeys>

type Discovery = Record<'issuer' | 'jwks_uri', unknown>
