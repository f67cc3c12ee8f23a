import { Type } from 'typebox'

import {
  CreatedPersonalAccessToken,
  NewPersonalAccessToken,
  PersonalAccessTokenList,
} from '../../domain/registry/personal-access-token.ts'
import { listEmptyIsAbsent } from '../../domain/registry/registry-fields.ts'
import { ExchangedToken } from '../../domain/registry/trusted-publisher.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import type { TokenDeps } from './deps.ts'
import {
  createPublishToken,
  createToken,
  validateNewToken,
  listTokens,
  revokeToken,
} from './personal-access-token.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
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
import { PUBLISH, TOKEN } from './examples.ts'

const COMMON = { tag: 'Publishers', auth: 'required' } as const
const TOKENS_PATH = `${PUBLISHER_PATH}/tokens`

/** The routes of the tokens that a publisher publishes with. */
export const makePersonalAccessTokenRoutes = (deps: TokenDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'post',
    path: TOKENS_PATH,
    summary: 'Make a personal access token',
    description: 'For admins of the publisher. Only the response shows the token.',
    params: OfPublisher,
    body: {
      ...SMALL_BODY,
      schema: NewPersonalAccessToken,
      emptyIsAbsent: listEmptyIsAbsent(NewPersonalAccessToken),
      examples: {
        unlimited: { name: 'release pipeline' },
        reader: { name: 'dashboard', scope: 'read', node_id: 'image-tools' },
      },
    },
    responses: {
      201: {
        description: 'The token, shown this once.',
        schema: CreatedPersonalAccessToken,
        example: { token: PUBLISH.personal_access_token },
      },
    },
    errors: ['publisher_not_found', ...NODE_ERRORS, ...WRITE_ERRORS],
    secretResponse: true,
    validate: ({ body }) => validateNewToken(deps, body),
    handler: (request) => createToken(deps, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: `${OWN_NODE_PATH}/publish-tokens`,
    summary: 'Make a token for one publication',
    description:
      'For members of the publisher. It publishes this node for 15 minutes, beside their credential as PUBLISH_AUTH says.',
    params: OfOwnNode,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: {
      201: {
        description: 'The token, shown this once.',
        schema: ExchangedToken,
        example: { token: PUBLISH.personal_access_token, expires_at: '2026-01-01T00:15:00.000Z' },
      },
    },
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
    responses: {
      200: { description: 'Tokens, masked.', schema: PersonalAccessTokenList, example: [TOKEN] },
    },
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
