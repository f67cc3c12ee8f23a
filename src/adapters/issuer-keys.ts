import type { JWTVerifyGetKey } from 'jose'

import { makeRecent } from '../domain/shared/recent.ts'
import type { Log } from '../log.ts'
import { makeKeySet } from './key-set.ts'
import type { Outbound } from './outbound/client.ts'

/** Most issuers whose keys a process holds. */
const MOST_ISSUERS = 200
/** The largest known documents have a tenth of it. */
const MOST_BYTES = 262_144

/** The look-up of the signing keys of an issuer. It throws `auth_unavailable` while none are held. */
export type IssuerKeys = (issuer: string) => JWTVerifyGetKey

/**
 * Makes the look-up of the keys of any issuer that users name: its discovery document says where they are. Both are
 * fetched through the guarded client alone, and kept and fetched again as the keys of bearer tokens are.
 */
export const makeIssuerKeys = ({
  outbound,
  log,
}: {
  outbound: Pick<Outbound, 'read'>
  log: Pick<Log, 'warn'>
}): IssuerKeys => {
  const held = makeRecent<JWTVerifyGetKey>(MOST_ISSUERS)
  const readJson = async (url: string, signal?: AbortSignal | null): Promise<unknown> => {
    const limits = { maxBytes: MOST_BYTES, timeoutMs: 5_000, maxRedirects: 0 }
    const bytes = await outbound.read({ url, ...limits, ...(signal ? { signal } : {}) })
    return JSON.parse(bytes.toString('utf8'))
  }
  const make = (issuer: string): JWTVerifyGetKey => {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const fetchKeys = async (signal?: AbortSignal | null): Promise<Response> => {
      const { issuer: named, jwks_uri: keys } = (await readJson(url, signal)) as Discovery
      if (named !== issuer) throw new Error('the discovery document is of another issuer')
      if (typeof keys !== 'string') throw new Error('the discovery document has no jwks_uri')
      return Response.json(await readJson(keys, signal))
    }
    return makeKeySet({ url, log, fetch: (_url, { signal }) => fetchKeys(signal) })
  }
  return (issuer) => {
    const keys = held.find(issuer) ?? make(issuer)
    // Kept anew, so that of too many those go that nobody asks for.
    held.keep(issuer, keys)
    return keys
  }
}

/** The members that are read of a discovery document. */
interface Discovery {
  issuer?: unknown
  jwks_uri?: unknown
}
