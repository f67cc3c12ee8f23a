import {
  ExchangedToken,
  IdentityAudience,
  NewTrustedPublisher,
  TokenExchange,
  TrustedPublisher,
  TrustedPublisherList,
} from '../../domain/registry/trusted-publisher.ts'
import { listEmptyIsAbsent } from '../../domain/registry/registry-fields.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import type { RegistryDeps } from './deps.ts'
import { EXCHANGED, PUBLISHED_BY, TRUSTED } from './examples.ts'
import { NODE_ERRORS, OWN_NODE_PATH, OfOwnNode, OfTrust, WRITE_ERRORS } from './paths.ts'
import { exchangeToken } from './token-exchange.ts'
import { createTrustedPublisher, endTrust, judgeTrust, listTrusted } from './trusted-publisher.ts'

const TAG = { tag: 'Trusted publishing' } as const
const TRUSTED_PATH = `${OWN_NODE_PATH}/trusted-publishers`
const OWN_ERRORS = ['publisher_not_found', ...NODE_ERRORS] as const

/** The routes by which a node trusts CI jobs, and by which these get tokens to publish it with. */
export const makeTrustedPublisherRoutes = (deps: RegistryDeps): Route[] => [
  create(deps),
  list(deps),
  remove(deps),
  exchange(deps),
  audience(deps),
]

const create = (deps: RegistryDeps): Route =>
  defineRoute({
    ...TAG,
    auth: 'required',
    method: 'post',
    path: TRUSTED_PATH,
    summary: 'Trust the jobs of a repository to publish a node',
    description:
      'For admins of the publisher. A job whose identity token says all of `claims` gets a token that publishes the node. A node has at most 20.',
    params: OfOwnNode,
    body: {
      ...SMALL_BODY,
      schema: NewTrustedPublisher,
      emptyIsAbsent: listEmptyIsAbsent(NewTrustedPublisher),
      examples: PUBLISHED_BY,
    },
    responses: {
      201: { description: 'The trusted publisher.', schema: TrustedPublisher, example: TRUSTED },
    },
    errors: [
      'url_refused',
      ...OWN_ERRORS,
      ...WRITE_ERRORS,
      'trusted_publisher_exists',
      'trusted_publisher_limit_reached',
    ],
    judge: ({ body }) => judgeTrust(deps, body),
    handler: (request) => createTrustedPublisher(deps, request),
  })

const list = (deps: RegistryDeps): Route =>
  defineRoute({
    ...TAG,
    auth: 'required',
    method: 'get',
    path: TRUSTED_PATH,
    summary: 'List the trusted publishers of a node, the oldest first',
    description: 'For admins of the publisher.',
    params: OfOwnNode,
    read: 'private',
    responses: {
      200: { description: 'All of them.', schema: TrustedPublisherList, example: [TRUSTED] },
    },
    errors: [...OWN_ERRORS, 'forbidden'],
    handler: (request) => listTrusted(deps, request),
  })

const remove = (deps: RegistryDeps): Route =>
  defineRoute({
    ...TAG,
    auth: 'required',
    method: 'delete',
    path: `${TRUSTED_PATH}/:trustedPublisherId`,
    summary: 'Trust a publisher no longer',
    description: 'For admins of the publisher. The tokens that its jobs hold end with it.',
    params: OfTrust,
    responses: { 204: { description: 'Its jobs can publish no more.' } },
    errors: [...OWN_ERRORS, ...WRITE_ERRORS, 'trusted_publisher_not_found'],
    handler: (request) => endTrust(deps, request),
  })

const exchange = (deps: RegistryDeps): Route =>
  defineRoute({
    ...TAG,
    auth: 'none',
    method: 'post',
    path: `${OWN_NODE_PATH}/token-exchange`,
    summary: 'Exchange the identity token of a CI job for one that publishes',
    description:
      'The new token publishes this node for 15 minutes and needs no other credential beside it. An identity token is exchanged once.',
    params: OfOwnNode,
    body: {
      ...SMALL_BODY,
      schema: TokenExchange,
      examples: {
        job: { identity_token: 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2NpIn0.c2lnbmF0dXJl' },
      },
    },
    responses: {
      201: {
        description: 'The token, shown this once.',
        schema: ExchangedToken,
        example: EXCHANGED,
      },
    },
    errors: [...OWN_ERRORS, 'identity_token_refused', 'auth_unavailable', 'outcome_unknown'],
    secretAnswer: true,
    handler: (request) => exchangeToken(deps, request),
  })

const audience = ({ oidcAudience }: RegistryDeps): Route =>
  defineRoute({
    ...TAG,
    auth: 'none',
    method: 'get',
    path: '/oidc/audience',
    summary: 'Read what the audience of an identity token must be',
    read: 'public',
    responses: {
      200: {
        description: 'What a job asks its issuer for.',
        schema: IdentityAudience,
        example: { audience: 'kiln.example.com' },
      },
    },
    errors: [],
    handler: () => Promise.resolve({ status: 200, body: { audience: oidcAudience } }),
  })
