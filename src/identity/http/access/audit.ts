import { readAddress } from '../../../platform/adapters/network-of.ts'
import type { Audit } from '../../../platform/db/audit-log.ts'
import { ANONYMOUS } from '../../../platform/domain/account.ts'
import type { RouteRequest } from '../../../platform/http/route.ts'
import { getCaller, requirePlatformAdmin } from '../../../platform/http/access/caller.ts'

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
