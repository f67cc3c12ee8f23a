import { Type } from 'typebox'
import type { Static } from 'typebox'

import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { getNode } from '../db/node.ts'
import {
  findTransfer,
  listTransfers,
  transferNode,
  offerNode,
  withdrawTransfer,
} from '../db/transfer.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { Node } from '../domain/node.ts'
import { AdminTransfer, NewTransfer, Transfer, Transfers } from '../domain/transfer.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import { makeIssue } from '../../platform/domain/validate.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { auditOf, makeAudit } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { getOwnNodeAccess, getPublisherAccess } from './access.ts'
import type { RegistryDeps } from './deps.ts'
import { NODE } from './examples.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfNode,
  OfOwnNode,
  OfPublisher,
  PUBLISHER_ERRORS,
  PUBLISHER_PATH,
  WRITE_ERRORS,
} from './paths.ts'

const COMMON = { tag: 'Packs', auth: 'required' } as const
const OfTransfer = Type.Object({
  ...OfPublisher.properties,
  transferId: Type.String({ description: 'Id of the offer.' }),
})
type OfTransfer = Static<typeof OfTransfer>
const TRANSFER_PATH = `${PUBLISHER_PATH}/transfers/:transferId`
const TRANSFER = {
  id: '3f1d9f5e-7a53-4f0b-9d3c-2b1a0c9e8d7f',
  node_id: 'image-tools',
  from: 'acme',
  to: 'globex',
  asked_by: 'alice',
  asked_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-02-14T12:00:00.000Z',
}
const TRANSFER_ERRORS = [...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'transfer_not_found'] as const

/** The routes by which a node goes from one publisher to another: an owner offers it, an owner of the other accepts. */
export const makeTransferRoutes = (deps: RegistryDeps): Route[] => [
  defineRoute({
    ...COMMON,
    auth: 'jwt',
    method: 'post',
    path: `${OWN_NODE_PATH}/transfer`,
    summary: 'Offer a pack to another publisher',
    description:
      'For owners. An owner of the other publisher accepts it within 14 days; another offer takes the place of an open one. With the transfer the tokens for the pack and the trust in its CI jobs end.',
    params: OfOwnNode,
    body: { ...SMALL_BODY, schema: NewTransfer, examples: { globex: { to: 'globex' } } },
    responses: created('The offer.', Transfer, { example: TRANSFER }),
    errors: ['publisher_not_found', ...NODE_ERRORS, ...WRITE_ERRORS],
    validate: ({ params, body }) =>
      String(body['to']).toLowerCase() === String(params['publisherId']).toLowerCase()
        ? [makeIssue('/to', `must be another publisher, got ${shown(body['to'])}`)]
        : [],
    handler: (request) => offer(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${PUBLISHER_PATH}/transfers`,
    summary: 'List offers of packs, of and to a publisher',
    description: 'For members.',
    params: OfPublisher,
    read: 'private',
    responses: ok('Open ones.', Transfers, { example: { transfers: [TRANSFER] } }),
    errors: [...PUBLISHER_ERRORS, 'forbidden'],
    handler: async ({ params, caller }) => {
      const asked = { ...params, access: 'write', action: 'list_members', caller } as const
      const { id } = await getPublisherAccess(deps, asked)
      const transfers = await withinDeadline(deps.sql, listTransfers(deps.sql, id))
      return { status: 200, body: { transfers } }
    },
  }),
  defineRoute({
    ...COMMON,
    auth: 'jwt',
    method: 'post',
    path: `${TRANSFER_PATH}/accept`,
    summary: 'Accept a pack',
    description: 'For owners of the publisher that it was offered to.',
    params: OfTransfer,
    responses: ok('The pack as it is now.', Node, { example: NODE }),
    errors: [...TRANSFER_ERRORS, 'node_not_found'],
    handler: (request) => accept(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: TRANSFER_PATH,
    summary: 'Withdraw or decline an offer of a pack',
    description: 'For owners of either publisher.',
    params: OfTransfer,
    responses: { 204: { description: 'It has ended.' } },
    errors: TRANSFER_ERRORS,
    handler: async (request) => {
      const by = getCaller(request).principal
      const { id, node_id, from, to } = await getTransfer(deps, request)
      return await unitOfWork(deps, async (sql) => {
        if (!(await withdrawTransfer(sql, { id, by }))) throw transferNotFound(id)
        const [target, before] = [auditTarget.node(node_id), { from, to }]
        await insertAudit(sql, auditOf(request), { action: 'node.withdraw', target, before })
        return { status: 204 }
      })
    },
  }),
  defineRoute({
    tag: 'Registry admin',
    auth: 'jwt',
    method: 'post',
    path: '/admin/nodes/:nodeId/transfer',
    summary: 'Give a pack to another publisher',
    description:
      'At once, without an offer; for a name that was squatted, or a publisher that is gone.',
    params: OfNode,
    body: {
      ...SMALL_BODY,
      schema: AdminTransfer,
      examples: { globex: { to: 'globex', reason: 'its author' } },
    },
    responses: ok('The pack as it is now.', Node, { example: NODE }),
    errors: ['node_not_found', 'publisher_not_found', 'publisher_banned', ...WRITE_ERRORS],
    handler: async (request) => {
      const audit = makeAudit(request)
      const { to, reason } = request.body
      return await move(deps, request, { ...request.params, to, reason, audit })
    },
  }),
]

const transferNotFound = (id: string) =>
  apiError('transfer_not_found', `There is no open offer ${shown(id)} of or to the publisher.`)

/** Gets the open offer that a path names. The caller owns one of its two publishers. */
const getTransfer = async (
  deps: RegistryDeps,
  { params, caller }: RouteRequest<OfTransfer>,
): Promise<Transfer & { publisherId: string }> => {
  const { transferId: id } = params
  const asked = { ...params, access: 'write', action: 'transfer_node', caller } as const
  const { id: publisherId } = await getPublisherAccess(deps, asked)
  const found = isUuid(id)
    ? await withinDeadline(deps.sql, findTransfer(deps.sql, { id, publisherId }))
    : undefined
  if (!found) throw transferNotFound(id)
  return { ...found, publisherId }
}

const offer = async (
  deps: RegistryDeps,
  request: RouteRequest<OfOwnNode, unknown, NewTransfer>,
): Promise<SavedResponse> => {
  const caller = getCaller(request)
  const asked = { ...request.params, action: 'transfer_node', caller } as const
  const { id: nodeId, publisherId: from } = await getOwnNodeAccess(deps, asked)
  const to = await getPublisherAccess(deps, {
    publisherId: request.body.to,
    access: 'read',
    caller,
  })
  return await unitOfWork(deps, async (sql) => {
    const made = await offerNode(sql, { nodeId, from, to: to.id, by: caller.principal })
    if (!made) throw errors.nodeNotFound(nodeId)
    const [target, after] = [auditTarget.node(nodeId), { from, to: to.id }]
    await insertAudit(sql, auditOf(request), { action: 'node.offer', target, after })
    const response = { status: 201, body: made }
    return await request.saveIdempotentResponse(sql, response)
  })
}

const accept = async (
  deps: RegistryDeps,
  request: RouteRequest<OfTransfer>,
): Promise<SavedResponse> => {
  const { id: transferId, node_id: nodeId, to, publisherId } = await getTransfer(deps, request)
  if (to !== publisherId) throw transferNotFound(transferId)
  return await move(deps, request, { nodeId, to, transferId, audit: auditOf(request) })
}

const move = async (
  deps: RegistryDeps,
  request: RouteRequest,
  given: Parameters<typeof transferNode>[1],
): Promise<SavedResponse> =>
  await unitOfWork(deps, async (sql) => {
    const { nodeId, to, transferId = '' } = given
    const done = await transferNode(sql, given)
    if (done === 'publisher_not_found') throw errors.publisherNotFound(to)
    if (done === 'node_not_found') throw errors.nodeNotFound(nodeId)
    if (done === 'transfer_not_found') throw transferNotFound(transferId)
    if (done === 'publisher_banned') throw apiError('publisher_banned')
    const response = { status: 200, body: await getNode(sql, nodeId, deps) }
    return await request.saveIdempotentResponse(sql, response)
  })
