import { withinDeadline } from '../../platform/db/client.ts'
import {
  deleteTrustedPublisher,
  insertTrustedPublisher,
  listTrustToCome,
  listTrustedPublishers,
} from '../db/trusted-publisher.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { apiError, errors } from '../../platform/domain/errors.ts'
import { validationError } from '../../platform/domain/validation-error.ts'
import { roleFor } from '../domain/role.ts'
import { validatePathId } from '../domain/node-validation.ts'
import {
  CreatedTrust,
  NewTrustedPublisher,
  TrustedPublisher,
  TrustedPublisherList,
  validateNewTrust,
  usualIssuer,
} from '../domain/trusted-publisher.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import { validateUrl } from '../../tasks/inputs.ts'
import { getPublisherAccess } from './access.ts'
import type { TrustDeps } from './deps.ts'
import { TRUST, TRUSTED } from './examples.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfNewNode,
  OfOwnNode,
  OfPublisher,
  OfTrust,
  PUBLISHER_PATH,
  WRITE_ERRORS,
} from './paths.ts'
import { makeTokenExchangeRoute } from './token-exchange.ts'
import { getTrustPlace } from './trust-place.ts'

const PATH = `${OWN_NODE_PATH}/trusted-publishers`
const ERRORS = ['publisher_not_found', ...NODE_ERRORS, ...WRITE_ERRORS] as const
const COMMON = { tag: 'Trusted publishing', auth: 'required' } as const
const action = 'trust_publisher'

/** The routes by which a node trusts CI jobs, and gives them tokens. */
export const makeTrustedPublisherRoutes = (deps: TrustDeps): Route[] => [
  makeTokenExchangeRoute(deps),
  create(deps),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: PATH,
    summary: 'List the trusted publishers of a pack, the oldest first',
    description: 'For admins of the publisher.',
    params: OfOwnNode,
    read: 'private',
    responses: ok('All of them.', TrustedPublisherList, { example: [TRUSTED] }),
    errors: ['publisher_not_found', ...NODE_ERRORS, 'node_owned_by_other_publisher', 'forbidden'],
    handler: async ({ params, caller }) => {
      const place = await getTrustPlace(deps, { ...params, access: 'read', action, caller })
      const body = await withinDeadline(deps.sql, listTrustedPublishers(deps.sql, place))
      if (place.isToCome && body.length === 0) throw errors.nodeNotFound(params.nodeId)
      return { status: 200, body }
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: `${PUBLISHER_PATH}/trusted-publishers`,
    summary: 'List the trusted publishers of packs to come, the oldest first',
    description: 'For admins of the publisher.',
    params: OfPublisher,
    read: 'private',
    responses: ok('All of them.', TrustedPublisherList, { example: [TRUSTED] }),
    errors: ['publisher_not_found', 'publisher_banned', 'forbidden'],
    handler: async ({ params, caller }) => {
      const { id } = await getPublisherAccess(deps, { ...params, access: 'read', action, caller })
      const body = await withinDeadline(deps.sql, listTrustToCome(deps.sql, id))
      return { status: 200, body }
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: `${PATH}/:trustedPublisherId`,
    summary: 'Trust a publisher no longer',
    description: 'For admins of the publisher. The tokens that its jobs hold end with it.',
    params: OfTrust,
    responses: { 204: { description: 'Its jobs can publish no more.' } },
    errors: [...ERRORS, 'trusted_publisher_not_found'],
    handler: async (request) => {
      const { params, caller } = request
      const place = await getTrustPlace(deps, { ...params, access: 'write', action, caller })
      const trust = { id: params.trustedPublisherId, ...place }
      const audit = auditOf(request)
      if (!(await unitOfWork(deps, (sql) => deleteTrustedPublisher(sql, trust, audit))))
        throw errors.trustedPublisherNotFound(trust.id)
      return { status: 204 }
    },
  }),
]

const create = (deps: TrustDeps): Route =>
  defineRoute({
    ...COMMON,
    auth: 'jwt',
    method: 'post',
    path: PATH,
    summary: 'Trust the jobs of a repository to publish a pack',
    description:
      'For admins of the publisher. A job whose identity token says all of `claims` gets a token that publishes the pack. A pack has at most 20. The pack may be one to come, which the first publication makes: its id is not reserved, and once another publisher has made it the trust has no effect, also after a transfer. A publisher has at most 20 for packs to come.',
    params: OfNewNode,
    body: {
      ...SMALL_BODY,
      schema: NewTrustedPublisher,
      sentBack: Object.keys(TrustedPublisher.properties),
      examples: { github: TRUST },
    },
    responses: created('The trusted publisher.', CreatedTrust, { example: TRUSTED }),
    errors: [
      ...ERRORS,
      'node_owned_by_other_publisher',
      'node_deleted',
      'url_refused',
      'trusted_publisher_exists',
      'trusted_publisher_limit_reached',
    ],
    validate: ({ params, body }) => [
      ...validatePathId(String(params['nodeId'])),
      ...validateUrl(deps, '/issuer', body['issuer']),
      ...validateNewTrust(body),
    ],
    handler: async (request) => {
      const { params, body } = request
      const caller = getCaller(request)
      const place = await getTrustPlace(deps, { ...params, access: 'publish', action, caller })
      const { issuer = usualIssuer(body.provider) ?? '' } = body
      const { issues, warnings } = await deps.checkTrust({ ...body, issuer })
      const wrong = validationError(issues, { query: {}, body })
      if (wrong) throw wrong
      const { publisherId, nodeId: node_id } = place
      const trust = { ...body, issuer, publisherId, node_id }
      return await unitOfWork(deps, async (sql) => {
        const given = { ...trust, created_by: caller.principal }
        const made = await insertTrustedPublisher(sql, given, auditOf(request))
        if (made === 'no_member') throw errors.roleTooLow(roleFor(action), null)
        if (made === 'too_many') throw apiError('trusted_publisher_limit_reached')
        if (made === 'exists') throw apiError('trusted_publisher_exists')
        if (made === 'other_publisher') throw errors.nodeOwnedByOtherPublisher(node_id)
        const shown = { ...made, ...(warnings.length > 0 && { warnings }) }
        const response = { status: 201, body: shown }
        return await request.saveIdempotentResponse(sql, response)
      })
    },
  })
