import { randomBytes } from 'node:crypto'

import { withinDeadline } from '../../db/client.ts'
import {
  findPersonalAccessToken,
  insertPersonalAccessToken,
  listPersonalAccessTokens,
  revokePersonalAccessToken,
  touchPersonalAccessToken,
} from '../../db/registry/personal-access-token.ts'
import type {
  LiveToken,
  NewPersonalAccessTokenRow,
} from '../../db/registry/personal-access-token.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { credentialKind, makeCredential } from '../../domain/shared/credential.ts'
import { errors, shown } from '../../domain/shared/errors.ts'
import { validateExpiry, pastExpiry } from '../../domain/shared/expiry.ts'
import type { NewPersonalAccessToken } from '../../domain/registry/personal-access-token.ts'
import type { PublishBody } from '../../domain/registry/publish.ts'
import { roleFor } from '../../domain/registry/role.ts'
import type { PublisherAction } from '../../domain/registry/role.ts'
import { PUBLISH_TOKEN_SECONDS } from '../../domain/registry/trusted-publisher.ts'
import type { Issue } from '../../domain/shared/validate.ts'
import { getCaller } from '../access/caller.ts'
import { recordUse } from '../access/auth.ts'
import { digest } from '../access/digest.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import { getOwnNodeAccess, getPublisherAccess } from './access.ts'
import type { CommitDeps, ReadDeps } from '../deps.ts'
import type { TokenDeps } from './deps.ts'
import type { OfOwnNode, OfPublisher, OfToken } from './paths.ts'

/** The rules of a new token that its schema cannot say. The clock of the database has the last word on the expiry. */
export const validateNewToken = (
  { now }: TokenDeps,
  body: Readonly<Record<string, unknown>>,
): Issue[] => {
  const { expires_at: expiry } = body
  const issues = validateExpiry(body)
  return issues.length === 0 && typeof expiry === 'string' && Date.parse(expiry) <= now().getTime()
    ? [pastExpiry(expiry)]
    : issues
}

/** Creates a token; its value is in the response and nowhere else. */
export const createToken = async (
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
export const createPublishToken = async (
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
    if (made.result === 'no_member') throw errors.roleTooLow(roleFor(action))
    const response = { status: 201, body: { token, ...shown } }
    return await request.saveIdempotentResponse(sql, response)
  })
}

export const listTokens = async (
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

export const revokeToken = async (
  deps: ReadDeps,
  { params, caller }: RouteRequest<OfToken>,
): Promise<JsonResponse> => {
  const { publisherId, tokenId } = params
  const asked = { publisherId, access: 'write', action: 'revoke_token', caller } as const
  const { id } = await getPublisherAccess(deps, asked)
  const revoked = await withinDeadline(
    deps.sql,
    revokePersonalAccessToken(deps.sql, { id: tokenId, publisherId: id }),
  )
  if (!revoked) throw errors.tokenNotFound(tokenId)
  return { status: 204 }
}

/**
 * The token in a publish body. Throws the same 403 for every text that is no live token of the publisher, whatever is wrong
 * with it; and 401 where a member's credential is missing beside it, unless it is that of a CI job.
 */
export const getPublishToken = async (
  deps: TokenDeps,
  { params, body, caller }: RouteRequest<OfOwnNode, unknown, PublishBody>,
): Promise<LiveToken> => {
  const { sql, publishAuth } = deps
  const { personal_access_token: text } = body
  const { publisherId, nodeId } = params
  const found =
    credentialKind(text) === 'personal_access_token'
      ? await withinDeadline(
          sql,
          findPersonalAccessToken(sql, { sha256: digest(text), publisherId }),
        )
      : undefined
  if (publishAuth === 'bearer+token' && !caller && !found?.isExchanged)
    throw errors.unauthorized(undefined, NEEDS_MEMBER)
  if (!found) throw errors.invalidPersonalAccessToken()
  if (found.scope !== 'publish') throw errors.tokenScopeInsufficient('is only for reading')
  if (found.nodeId !== null && found.nodeId.toLowerCase() !== nodeId.toLowerCase())
    throw errors.tokenScopeInsufficient(`is only for the node ${shown(found.nodeId)}`)
  if (found.touchDue)
    await recordUse(deps, 'a personal access token', touchPersonalAccessToken(sql, found.id))
  return found
}

/** Message of the 401 of publishing. */
export const NEEDS_MEMBER =
  'Publishing needs a bearer token or API key of a member beside the personal access token (PUBLISH_AUTH=bearer+token), or alone a live token that a CI job of a trusted publisher got.'
