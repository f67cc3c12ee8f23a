import { withinDeadline } from '../../db/client.ts'
import {
  MOST_TRUSTED,
  deleteTrustedPublisher,
  insertTrustedPublisher,
  listTrustedPublishers,
} from '../../db/registry/trusted-publisher.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { errors } from '../../domain/shared/errors.ts'
import { registryFault } from '../../domain/registry/registry-fault.ts'
import { roleFor } from '../../domain/registry/role.ts'
import { USUAL_ISSUERS, judgeNewTrust } from '../../domain/registry/trusted-publisher.ts'
import type { NewTrustedPublisher } from '../../domain/registry/trusted-publisher.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import { getCaller } from '../access/caller.ts'
import type { JsonAnswer, RouteRequest } from '../route.ts'
import { judgeUrl } from '../task/judge-url.ts'
import { getOwnNodeAccess } from './access.ts'
import type { RegistryDeps } from './deps.ts'
import type { OfOwnNode, OfTrust } from './paths.ts'

/** Judges a new trusted publisher; its issuer is an address that this service will call. */
export const judgeTrust = (
  deps: RegistryDeps,
  body: Readonly<Record<string, unknown>>,
): Fault[] => {
  const { issuer } = body
  const isBare = typeof issuer !== 'string' || !/[?#]/.test(issuer)
  return [
    ...(isBare ? [] : [registryFault('/issuer', 'must have neither query nor fragment')]),
    ...judgeUrl(deps, '/issuer', issuer),
    ...judgeNewTrust(body),
  ]
}

export const createTrustedPublisher = async (
  deps: RegistryDeps,
  request: RouteRequest<OfOwnNode, unknown, NewTrustedPublisher>,
): Promise<JsonAnswer> => {
  const { params, requestId } = request
  const caller = getCaller(request)
  const { id: node_id, publisherId } = await getOwnNodeAccess(deps, {
    ...params,
    action: 'trust_publisher',
    caller,
  })
  const { provider, claims, issuer = USUAL_ISSUERS[provider] ?? '' } = request.body
  const created_by = caller.principal
  const trust = { publisherId, node_id, provider, issuer, claims, created_by }
  return await unitOfWork(deps, async (sql) => {
    const made = await insertTrustedPublisher(sql, trust, { actor: created_by, requestId })
    if (made.result === 'no_member') throw errors.roleTooLow(roleFor('trust_publisher'))
    if (made.result === 'too_many') throw errors.trustedPublisherLimitReached(MOST_TRUSTED)
    if (made.result !== 'created') throw errors.trustedPublisherExists()
    const answer = { status: 201, body: made.trusted }
    await request.finish(sql, answer)
    return answer
  })
}

export const listTrusted = async (
  deps: RegistryDeps,
  { params, caller }: RouteRequest<OfOwnNode>,
): Promise<JsonAnswer> => {
  const asked = { ...params, access: 'read', action: 'trust_publisher', caller } as const
  const { id } = await getOwnNodeAccess(deps, asked)
  return { status: 200, body: await withinDeadline(deps.sql, listTrustedPublishers(deps.sql, id)) }
}

export const endTrust = async (
  deps: RegistryDeps,
  request: RouteRequest<OfTrust>,
): Promise<JsonAnswer> => {
  const { params, requestId } = request
  const { trustedPublisherId: id } = params
  const caller = getCaller(request)
  const node = await getOwnNodeAccess(deps, { ...params, action: 'trust_publisher', caller })
  const audit = { actor: caller.principal, requestId }
  const ended = await unitOfWork(deps, (sql) =>
    deleteTrustedPublisher(sql, { id, nodeId: node.id }, audit),
  )
  if (!ended) throw errors.trustedPublisherNotFound(id)
  return { status: 204 }
}
