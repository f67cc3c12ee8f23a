import { randomBytes } from 'node:crypto'

import { Type } from 'typebox'

import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import {
  insertPersonalAccessToken,
  listPersonalAccessTokens,
  revokePersonalAccessToken,
} from '../db/personal-access-token.ts'
import type { NewPersonalAccessTokenRow } from '../db/personal-access-token.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import {
  CreatedPersonalAccessToken,
  NewPersonalAccessToken,
  PersonalAccessToken,
  PersonalAccessTokenList,
} from '../../identity/domain/personal-access-token.ts'
import { roleFor } from '../domain/role.ts'
import type { PublisherAction } from '../domain/role.ts'
import { ExchangedToken, PUBLISH_TOKEN_SECONDS } from '../domain/trusted-publisher.ts'
import { makeCredential } from '../../platform/domain/credential.ts'
import { errors } from '../../platform/domain/errors.ts'
import { pastExpiry, validateLife } from '../../platform/domain/expiry.ts'
import type { Issue } from '../../platform/domain/validate.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { digest } from '../../identity/http/access/digest.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { getOwnNodeAccess, getPublisherAccess } from './access.ts'
import type { TokenDeps } from './deps.ts'
import { PUBLISH, TOKEN } from './examples.ts'
import {
  NODE_ERRORS,
  OWN_NODE_PATH,
  OfOwnNode,
  OfPublisher,
  OfToken,
  PUBLISHER_ERRORS,
  PUBLISHER_PATH,
  WRITE_ERRORS,
} from './paths.ts'

const COMMON = { tag: 'Publishers', auth: 'required' } as const
const TOKENS_PATH = `${PUBLISHER_PATH}/tokens`

/** The routes of the tokens that a publisher publishes with. */
export const makePersonalAccessTokenRoutes = (deps: TokenDeps): Route[] => [
  defineRoute({
    ...COMMON,
    auth: 'jwt',
    method: 'post',
    path: TOKENS_PATH,
    summary: 'Make a personal access token',
    description: 'For admins of the publisher. Only the response shows the token.',
    params: OfPublisher,
    body: {
      ...SMALL_BODY,
      schema: NewPersonalAccessToken,
      emptyIsAbsent: 'optional',
      sentBack: Object.keys(PersonalAccessToken.properties),
      examples: {
        unlimited: { name: 'release pipeline' },
        reader: { name: 'dashboard', scope: 'read', node_id: 'image-tools' },
      },
    },
    responses: created('The token, shown this once.', CreatedPersonalAccessToken, {
      example: { token: PUBLISH.personal_access_token },
    }),
    errors: ['publisher_not_found', ...NODE_ERRORS, ...WRITE_ERRORS],
    secretResponse: true,
    validate: ({ body }) => validateNewToken(deps, body),
    handler: (request) => createToken(deps, request),
  }),
  defineRoute({
    ...COMMON,
    auth: 'jwt',
    method: 'post',
    path: `${OWN_NODE_PATH}/publish-tokens`,
    summary: 'Make a token for one publication',
    description:
      'For members of the publisher. It publishes this pack for 15 minutes, beside their credential as PUBLISH_AUTH says.',
    params: OfOwnNode,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: created('The token, shown this once.', ExchangedToken, {
      example: { token: PUBLISH.personal_access_token, expires_at: '2026-01-01T00:15:00.000Z' },
    }),
    errors: ['publisher_not_found', ...NODE_ERRORS, ...WRITE_ERRORS],
    secretResponse: true,
    handler: (request) => createPublishToken(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: TOKENS_PATH,
    summary: 'List the live personal access tokens, newest first',
    description: 'For admins of the publisher.',
    params: OfPublisher,
    read: 'private',
    responses: ok('Tokens, masked.', PersonalAccessTokenList, { example: [TOKEN] }),
    errors: [...PUBLISHER_ERRORS, 'forbidden'],
    handler: (request) => listTokens(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: `${TOKENS_PATH}/:tokenId`,
    summary: 'Revoke a personal access token',
    description: 'For admins of the publisher.',
    params: OfToken,
    responses: { 204: { description: 'Publishing with it is rejected from now on.' } },
    errors: [...PUBLISHER_ERRORS, ...WRITE_ERRORS, 'token_not_found'],
    handler: (request) => revokeToken(deps, request),
  }),
]

/** The rules of a new token that its schema cannot say. The clock of the database has the last word on the expiry. */
const validateNewToken = (deps: TokenDeps, body: Readonly<Record<string, unknown>>): Issue[] => {
  const { expires_at: expiry } = body
  const issues = validateLife(body, deps)
  return issues.length === 0 &&
    typeof expiry === 'string' &&
    Date.parse(expiry) <= deps.now().getTime()
    ? [pastExpiry(expiry)]
    : issues
}

/** Creates a token; its value is in the response and nowhere else. */
const createToken = async (
  deps: CommitDeps,
  request: RouteRequest<OfPublisher, unknown, NewPersonalAccessToken>,
): Promise<SavedResponse> => {
  const { publisherId } = request.params
  const caller = getCaller(request)
  const asked = { publisherId, access: 'write', action: 'create_token', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  const { name, description, expires_at: expiry, scope = 'publish', node_id } = request.body
  const node =
    node_id === undefined
      ? undefined
      : await getOwnNodeAccess(deps, { publisherId, nodeId: node_id, caller })
  const row = {
    publisherId: id,
    name,
    description,
    scope,
    nodeId: node?.id,
    expires_at: expiry === undefined ? undefined : new Date(expiry),
  }
  return await insertToken(deps, request, { row, action: 'create_token' })
}

/** Creates the token that a member needs to publish one node within the next minutes. */
const createPublishToken = async (
  deps: TokenDeps,
  request: RouteRequest<OfOwnNode>,
): Promise<SavedResponse> => {
  const action = 'publish'
  const node = await getOwnNodeAccess(deps, { ...request.params, action, caller: request.caller })
  const expires_at = new Date(deps.now().getTime() + PUBLISH_TOKEN_SECONDS * 1000)
  const row = {
    publisherId: node.publisherId,
    name: 'one publication',
    description: undefined,
    scope: action,
    nodeId: node.id,
    expires_at,
  } as const
  const shown = { expires_at: expires_at.toISOString() }
  return await insertToken(deps, request, { row, action, shown })
}

interface GivenToken {
  row: Omit<NewPersonalAccessTokenRow, 'userId' | 'sha256' | 'last4'>
  action: PublisherAction
  /** Members of the response beside the token. */
  shown?: object
}

/** Inserts a token of the caller's; its value is in the response and nowhere else. */
const insertToken = async (
  deps: CommitDeps,
  request: RouteRequest,
  { row, action, shown }: GivenToken,
): Promise<SavedResponse> => {
  const token = makeCredential('personal_access_token', randomBytes)
  const { principal: userId } = getCaller(request)
  const secret = { userId, sha256: digest(token), last4: token.slice(-4) }
  return await unitOfWork(deps, async (sql) => {
    const made = await insertPersonalAccessToken(sql, { ...row, ...secret })
    if (made.result === 'expired')
      throw errors.validationFailed([pastExpiry(row.expires_at?.toISOString() ?? '').message])
    if (made.result === 'no_member') throw errors.roleTooLow(roleFor(action), null)
    const { publisherId, name, scope, nodeId, expires_at } = row
    await insertAudit(sql, auditOf(request), {
      action: 'token.create',
      target: auditTarget.publisher(publisherId),
      after: { token: made.id, name, scope, node_id: nodeId, expires_at },
    })
    const response = { status: 201, body: { token, ...shown } }
    return await request.saveIdempotentResponse(sql, response)
  })
}

const listTokens = async (
  deps: ReadDeps,
  { params: { publisherId }, caller }: RouteRequest<OfPublisher>,
): Promise<JsonResponse> => {
  const asked = { publisherId, access: 'read', action: 'list_tokens', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return {
    status: 200,
    body: await withinDeadline(deps.sql, listPersonalAccessTokens(deps.sql, id)),
  }
}

const revokeToken = async (
  deps: CommitDeps,
  request: RouteRequest<OfToken>,
): Promise<JsonResponse> => {
  const { publisherId, tokenId } = request.params
  const { caller } = request
  const asked = { publisherId, access: 'write', action: 'revoke_token', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  return await unitOfWork(deps, async (sql) => {
    if (!(await revokePersonalAccessToken(sql, { id: tokenId, publisherId: id })))
      throw errors.tokenNotFound(tokenId)
    const [target, before] = [auditTarget.publisher(id), { token: tokenId.toLowerCase() }]
    await insertAudit(sql, auditOf(request), { action: 'token.revoke', target, before })
    return { status: 204 }
  })
}
