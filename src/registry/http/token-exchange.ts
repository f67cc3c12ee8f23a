import { randomBytes } from 'node:crypto'

import { decodeJwt, jwtVerify } from 'jose'
import type { JWTPayload } from 'jose'

import { withinDeadline } from '../../platform/db/client.ts'
import { insertExchangedToken, listTrustedPublishers } from '../db/trusted-publisher.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { makeCredential } from '../../platform/domain/credential.ts'
import { errors, shown } from '../../platform/domain/errors.ts'
import {
  ExchangedToken,
  TokenExchange,
  findMismatches,
  readClaim,
  readProvenance,
} from '../domain/trusted-publisher.ts'
import type { TrustedPublisher } from '../domain/trusted-publisher.ts'
import { JWT_RULES, CredentialRejected, verifyJwt } from '../../identity/http/access/auth.ts'
import { digest } from '../../identity/http/access/digest.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { created, defineRoute } from '../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import type { TrustDeps } from './deps.ts'
import { PUBLISH } from './examples.ts'
import { NODE_ERRORS, OWN_NODE_PATH, OfOwnNode } from './paths.ts'
import { getTrustPlace } from './trust-place.ts'

/** The route by which CI jobs get tokens that publish. */
export const makeTokenExchangeRoute = (deps: TrustDeps): Route =>
  defineRoute({
    tag: 'Trusted publishing',
    auth: 'none',
    opens: 'by-body',
    method: 'post',
    path: `${OWN_NODE_PATH}/token-exchange`,
    summary: 'Exchange the identity token of a CI job for one that publishes',
    description:
      'The new token publishes this pack, or makes one to come, for 15 minutes and needs no other credential beside it. An identity token is exchanged once.',
    params: OfOwnNode,
    body: {
      ...SMALL_BODY,
      schema: TokenExchange,
      examples: { job: { identity_token: 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwcyJ9.c2ln' } },
    },
    responses: created('The token, shown this once.', ExchangedToken, {
      example: { token: PUBLISH.personal_access_token, expires_at: '2026-01-01T00:15:00.000Z' },
    }),
    errors: [
      'publisher_not_found',
      ...NODE_ERRORS,
      'node_owned_by_other_publisher',
      'identity_token_refused',
      'auth_unavailable',
      'outcome_unknown',
    ],
    secretResponse: true,
    handler: (request) => exchangeToken(deps, request),
  })

/** Each identity token is taken once; one that is rejected is not used up. */
const exchangeToken = async (
  deps: TrustDeps,
  request: RouteRequest<OfOwnNode, unknown, TokenExchange>,
): Promise<SavedResponse> => {
  const identity = request.body.identity_token
  const asked = { ...request.params, access: 'write', caller: undefined } as const
  const place = await getTrustPlace(deps, asked)
  const all = await withinDeadline(deps.sql, listTrustedPublishers(deps.sql, place))
  if (place.isToCome && all.length === 0) throw errors.nodeNotFound(asked.nodeId)
  const issuer = readIssuer(identity)
  const candidates = all.filter((one) => one.issuer === issuer)
  // Only an issuer that somebody has named for this node is ever asked for its keys.
  if (candidates.length === 0)
    throw errors.identityTokenRejected(
      `the pack trusts no issuer ${shown(issuer)}; an admin of its publisher can add a trusted publisher`,
    )
  const claims = await verifyIdentity(deps, identity, issuer)
  const trusted = getTrusted(candidates, claims)
  // What no other token of the issuer has: its id, or without one all that was signed.
  const name = claims.jti ?? identity.slice(0, identity.lastIndexOf('.'))
  const token = makeCredential('personal_access_token', randomBytes)
  const exchanged = {
    trusted,
    publisherId: place.publisherId,
    sha256: digest(token),
    identitySha256: digest(`${issuer} ${name}`),
    last4: token.slice(-4),
    provenance: readProvenance(trusted.provider, claims),
  }
  return await unitOfWork(
    deps,
    async (sql) => {
      const done = await insertExchangedToken(sql, exchanged)
      if (done === 'used') throw errors.identityTokenRejected('it was exchanged before')
      if (done === 'not_trusted')
        throw errors.identityTokenRejected('the pack has just ceased to trust it')
      const response = { status: 201, body: { token, ...done } }
      return await request.saveIdempotentResponse(sql, response)
    },
    { at: 'create' },
  )
}

/** Reads the issuer that the token names, before anything is verified. */
const readIssuer = (identity: string): string => {
  let issuer: string | undefined
  try {
    issuer = decodeJwt(identity).iss
  } catch {
    throw errors.identityTokenRejected('it is not a JSON Web Token')
  }
  if (typeof issuer !== 'string') throw errors.identityTokenRejected('it names no issuer (iss)')
  return issuer
}

const verifyIdentity = async (
  { issuerKeys, oidcAudience: audience }: TrustDeps,
  identity: string,
  issuer: string,
): Promise<JWTPayload> => {
  const requiredClaims = ['exp', 'iat']
  const options = { ...JWT_RULES, issuer, audience, requiredClaims, maxTokenAge: '1 day' }
  const verify = async () => (await jwtVerify(identity, issuerKeys(issuer), options)).payload
  return await verifyJwt(identity, verify, options).catch((error: unknown) => {
    if (!(error instanceof CredentialRejected)) throw error
    const { message } = error
    if (message.endsWith('EXPIRED exp')) throw errors.identityTokenRejected('it has expired', error)
    if (!message.endsWith(' aud'))
      throw errors.identityTokenRejected(`it does not hold (${message})`)
    throw errors.identityTokenRejected(`its audience must be ${shown(audience)}`, error)
  })
}

const getTrusted = (candidates: TrustedPublisher[], claims: JWTPayload): TrustedPublisher => {
  const mismatches = candidates.map((one) => findMismatches(one, claims))
  const found = candidates[mismatches.findIndex((names) => names.length === 0)]
  if (found) return found
  const said = candidates.map(({ provider, claims: trusted }, index) =>
    (mismatches[index] ?? [])
      .map(
        (name) =>
          `its ${name} is ${shown(readClaim(provider, claims, name))}, and ${shown(trusted[name])} is trusted`,
      )
      .join(', '),
  )
  throw errors.identityTokenRejected(
    `no trusted publisher of the pack is like it: ${said.slice(0, 3).join('; or ')}`,
  )
}
