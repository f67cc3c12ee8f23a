import { createHash, randomBytes } from 'node:crypto'

import { decodeJwt, jwtVerify } from 'jose'
import type { JWTPayload } from 'jose'

import { withinDeadline } from '../../db/client.ts'
import { insertExchangedToken, listTrustedPublishers } from '../../db/registry/trusted-publisher.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { makeCredential } from '../../domain/shared/credential.ts'
import { errors, shown } from '../../domain/shared/errors.ts'
import { readProvenance } from '../../domain/registry/provenance.ts'
import { findMismatches, readClaim } from '../../domain/registry/trusted-publisher.ts'
import type { TokenExchange, TrustedPublisher } from '../../domain/registry/trusted-publisher.ts'
import { JWT_RULES, Refusal, verifyJwt } from '../access/jwt.ts'
import type { JsonAnswer, RouteRequest } from '../route.ts'
import { getOwnNodeAccess } from './access.ts'
import type { RegistryDeps } from './deps.ts'
import type { OfOwnNode } from './paths.ts'

type ExchangeRequest = RouteRequest<OfOwnNode, unknown, TokenExchange>

/**
 * Gives a CI job a token that publishes the node, for an identity token of an issuer that the node trusts. Each identity
 * token is taken once; one that is refused is not used up.
 */
export const exchangeToken = async (
  deps: RegistryDeps,
  request: ExchangeRequest,
): Promise<JsonAnswer> => {
  const identity = request.body.identity_token
  const node = await getOwnNodeAccess(deps, { ...request.params, caller: undefined })
  const all = await withinDeadline(deps.sql, listTrustedPublishers(deps.sql, node.id))
  const issuer = readIssuer(identity)
  const ofIssuer = all.filter((one) => one.issuer === issuer)
  // Only an issuer that somebody has named for this node is ever asked for its keys.
  if (ofIssuer.length === 0)
    throw errors.identityTokenRefused(`the node trusts no issuer ${shown(issuer)}`)
  const claims = await verifyIdentity(deps, identity, issuer)
  const trusted = getTrusted(ofIssuer, claims)
  const token = makeCredential('personal_access_token', randomBytes)
  const exchanged = {
    trusted,
    publisherId: node.publisherId,
    sha256: digest(token),
    identitySha256: digest(`${issuer} ${nameOf(claims, identity)}`),
    last4: token.slice(-4),
    provenance: readProvenance(trusted.provider, claims),
  }
  const work = async (sql: Parameters<typeof insertExchangedToken>[0]): Promise<JsonAnswer> => {
    const done = await insertExchangedToken(sql, exchanged)
    if (done.result === 'used') throw errors.identityTokenRefused('it was exchanged before')
    if (done.result !== 'exchanged')
      throw errors.identityTokenRefused('the node has just ceased to trust it')
    const answer = { status: 201, body: { token, expires_at: done.expires_at } }
    await request.finish(sql, answer)
    return answer
  }
  return await unitOfWork(deps, work, { at: 'create' })
}

/** What the token says of its issuer, before anything is verified. */
const readIssuer = (identity: string): string => {
  try {
    return String(decodeJwt(identity).iss)
  } catch {
    throw errors.identityTokenRefused('it is not a JSON Web Token')
  }
}

const verifyIdentity = async (
  { issuerKeys, oidcAudience: audience }: RegistryDeps,
  identity: string,
  issuer: string,
): Promise<JWTPayload> => {
  const options = {
    ...JWT_RULES,
    issuer,
    audience,
    requiredClaims: ['exp', 'iat'],
    maxTokenAge: '1 day',
  }
  const verify = async (token: string) =>
    (await jwtVerify(token, issuerKeys(issuer), options)).payload
  try {
    return await verifyJwt(identity, verify, options)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const reason = REASONS[error.message] ?? 'its signature or form is not valid'
    throw errors.identityTokenRefused(reason.replace('AUDIENCE', shown(audience)), error)
  }
}

/** What a job is told about a token that does not hold. */
const REASONS: Record<string, string> = {
  'ERR_JWT_EXPIRED exp': 'it has expired',
  'ERR_JWT_EXPIRED iat': 'it was issued more than a day ago',
  'ERR_JWT_CLAIM_VALIDATION_FAILED nbf': 'it is not valid yet',
  'ERR_JWT_CLAIM_VALIDATION_FAILED iat': 'its iat is absent or in the future',
  'ERR_JWT_CLAIM_VALIDATION_FAILED exp': 'its exp is absent or no time',
  'ERR_JWT_CLAIM_VALIDATION_FAILED aud': 'its audience must be AUDIENCE',
  ERR_JOSE_ALG_NOT_ALLOWED: `its algorithm must be one of ${JWT_RULES.algorithms.join(', ')}`,
  ERR_JWKS_NO_MATCHING_KEY: 'its issuer has no key with its key id',
}

const getTrusted = (candidates: TrustedPublisher[], claims: JWTPayload): TrustedPublisher => {
  const found = candidates.find((one) => findMismatches(one, claims).length === 0)
  if (found) return found
  const said = candidates.flatMap((one) =>
    findMismatches(one, claims).map(
      (name) => `${name} is ${shown(readClaim(one.provider, claims, name))}`,
    ),
  )
  const list = [...new Set(said)].join(', ')
  throw errors.identityTokenRefused(`no trusted publisher of the node is like it: its ${list}`)
}

/** What no other token of the issuer has: its id, or without one all that was signed. */
const nameOf = ({ jti }: JWTPayload, identity: string): string =>
  typeof jti === 'string' && jti !== '' ? jti : identity.slice(0, identity.lastIndexOf('.'))

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
