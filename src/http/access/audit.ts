import { readAddress } from '../../adapters/network-of.ts'
import type { Audit } from '../../db/shared/audit-log.ts'
import { ANONYMOUS } from '../../domain/shared/account.ts'
import type { RouteRequest } from '../route.ts'

/** Names who makes a change, by what and from where, for `insertAudit` in the transaction of the change. */
export const auditOf = ({
  caller,
  requestId,
  ip,
}: Pick<RouteRequest, 'caller' | 'requestId' | 'ip'>): Audit => {
  const { principal: actor = ANONYMOUS, scheme, keyId, token } = caller ?? {}
  const credential = [scheme, keyId ?? token?.id].filter(Boolean).join('/')
  return { actor, requestId, address: readAddress(ip), credential: credential || undefined }
}
