import { readAddress } from '../../adapters/network-of.ts'
import type { Audit } from '../../db/shared/audit-log.ts'
import { ANONYMOUS } from '../../domain/shared/account.ts'
import type { RouteRequest } from '../route.ts'
import { getCaller, requirePlatformAdmin } from './caller.ts'

type Asked = Pick<RouteRequest, 'caller' | 'requestId' | 'ip'>

/** Names who makes a change, by what and from where, for `insertAudit` in the transaction of the change. */
export const auditOf = ({ caller, requestId, ip }: Asked): Audit => {
  const { principal: actor = ANONYMOUS, scheme, keyId, token } = caller ?? {}
  const credential = [scheme, keyId ?? token?.id].filter(Boolean).join('/')
  return { actor, requestId, address: readAddress(ip), credential: credential || undefined }
}

/** Names the actor for the log. Throws 403 for whoever is no platform admin. */
export const makeAudit = (request: Asked): Audit => {
  requirePlatformAdmin(getCaller(request))
  return auditOf(request)
}
