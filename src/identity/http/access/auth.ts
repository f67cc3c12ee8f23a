import { errors as joseErrors, jwtVerify } from 'jose'
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from 'jose'

import {
  findPersonalAccessToken,
  touchPersonalAccessToken,
} from '../../db/personal-access-token.ts'
import { findApiKey, touchApiKey, type ApiKeyOwner } from '../../db/api-key.ts'
import { findTaskToken } from '../../db/task-token.ts'
import { withinDeadline, type Sql } from '../../../platform/db/client.ts'
import { isReservedUser } from '../../../platform/domain/account.ts'
import { credentialKind } from '../../../platform/domain/credential.ts'
import { ApiError, errors } from '../../../platform/domain/errors.ts'
import { KeyScope } from '../../../platform/domain/key-scope.ts'
import type { Log } from '../../../platform/log.ts'
import type { Caller, CredentialHeaders } from '../../../platform/http/access/caller.ts'
import { readProfile, type IsAdmin } from './claims.ts'
import { digest } from './digest.ts'
import { makeTokenVerifier } from './token-verifier.ts'
import type { UserRecorder } from './user-recorder.ts'

export type Authenticate = (
  headers: CredentialHeaders,
  takes?: { tokens?: boolean | undefined; requestId?: string | undefined },
) => Promise<Caller | undefined>

export interface AuthenticatorOptions {
  issuer: string
  audience: string
  /** Keys of the issuer. */
  keys: JWTVerifyGetKey
  sql: Sql
  log: Pick<Log, 'info' | 'warn'>
  /** Writes down who has signed in; absent: nobody does. */
  users?: UserRecorder
  /** Nobody is a platform admin unless given. */
  isPlatformAdmin?: IsAdmin
  /** Finds the user of a subject; each subject is one unless given. */
  userOf?: ((subject: string) => Promise<string>) | undefined
  /** False when the session that a token was given in has ended; no session ends unless given. */
  isSessionLive?: ((claims: JWTPayload) => Promise<boolean>) | undefined
}

/**
 * Makes the authenticator: it takes a bearer token or API key in `Authorization` (an API key also as the password of
 * Basic), else an API key in `X-API-KEY`, and returns undefined when neither was sent. Where `takes.tokens` says so it may
 * be a personal access token. A token for one task has a caller on every route, so that its 403 can say what it is for.
 * It throws the same 401 for every invalid credential, whose cause goes to the log only, and 503 when it cannot check one.
 */
export const makeAuthenticator = ({
  issuer,
  audience,
  keys,
  sql,
  log,
  users,
  isPlatformAdmin = () => Promise.resolve(false),
  userOf = (subject) => Promise.resolve(subject),
  isSessionLive,
}: AuthenticatorOptions): Authenticate => {
  const options = { ...JWT_RULES, requiredClaims: ['exp', 'sub'], issuer, audience }
  const verify = makeTokenVerifier(keys, options)

  const validate = async ({ scheme, token }: Credential, tokens: boolean): Promise<Caller> => {
    if (token === undefined) throw new CredentialRejected('malformed')
    const kind = credentialKind(token)
    if (kind === 'personal_access_token' && tokens) return await authenticateToken(sql, log, token)
    if (kind === 'personal_access_token') throw new CredentialRejected('personal access token')
    if (kind === 'api_key') {
      const { owner, id: keyId, scopes, isCapped } = await authenticateApiKey(sql, log, token)
      const isLimited = scopes !== null || isCapped
      return {
        ...callerOf(owner, 'api_key'),
        keyId,
        ...(isLimited && { keyLimits: { scopes: scopes ?? KeyScope.enum, isCapped } }),
        ...((await isPlatformAdmin(owner)) && (isLimited ? { isAdminsKey: true } : ADMIN)),
      }
    }
    if (kind === 'task_token' && scheme === 'authorization')
      return await authenticateTaskToken(sql, token)
    if (scheme === 'x-api-key') throw new CredentialRejected('not an API key')
    const claims = await verifyJwt(token, verify, options)
    const subject = readSubject(claims)
    if (isSessionLive && !(await isSessionLive(claims)))
      throw new CredentialRejected('session ended')
    const profile = readProfile(claims)
    return {
      ...callerOf(await userOf(subject), 'jwt'),
      expiresAt: Number(claims.exp),
      ...(isSessionLive && { session: String(claims['sid']) }),
      ...(Object.keys(profile).length > 0 && { profile }),
      ...((await isPlatformAdmin(subject, claims)) && ADMIN),
    }
  }

  return async (headers, { tokens = false, requestId } = {}) => {
    const credential = readCredential(headers)
    if (credential === undefined) return undefined
    try {
      const caller = await validate(credential, tokens)
      if (caller.scheme === 'jwt' || caller.scheme === 'api_key') await users?.record(caller)
      return caller
    } catch (error) {
      if (!(error instanceof CredentialRejected)) throw error
      const { scheme } = credential
      log.info({ request_id: requestId, scheme, reason: error.message }, 'credential rejected')
      throw errors.unauthorized(new Error(`${scheme}: ${error.message}`))
    }
  }
}

interface Credential {
  scheme: 'authorization' | 'x-api-key'
  /** Undefined when the header holds no single token. */
  token: string | undefined
}

/** A credential that does not hold. */
export class CredentialRejected extends Error {
  override name = 'CredentialRejected'
}

const MAX_TOKEN_LENGTH = 8192

/** Only signatures by public keys: `none` and secrets are no choice, whatever a token says of itself. */
export const JWT_RULES = {
  algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
  clockTolerance: 60,
} satisfies JWTVerifyOptions

const ADMIN = { isPlatformAdmin: true }

const callerOf = (user: string, scheme: Caller['scheme']): Caller => ({
  principal: user,
  owner: user,
  scheme,
})

const readCredential = (headers: CredentialHeaders): Credential | undefined => {
  const authorization = [headers['authorization'] ?? []].flat()
  if (authorization.length > 0)
    return { scheme: 'authorization', token: tokenOf(only(authorization)) }
  const keys = [headers['x-api-key'] ?? []].flat()
  return keys.length > 0 ? { scheme: 'x-api-key', token: only(keys) } : undefined
}

const only = (values: string[]): string | undefined => (values.length === 1 ? values[0] : undefined)

const tokenOf = (value: string | undefined): string | undefined =>
  bearerOf(value) ?? passwordOf(value)

/** An API key or personal access token as the password of `Basic`: some programs take credentials from ~/.netrc alone. */
const passwordOf = (value = ''): string | undefined => {
  const encoded = /^basic +([\w+/]+=*) *$/i.exec(value)?.[1] ?? ''
  const password = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString())?.[1] ?? ''
  return credentialKind(password) && password
}

/** The token of `Bearer <token>`; a second one, another scheme or a token over 8 KiB is none. */
const bearerOf = (value = ''): string | undefined => {
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(value)?.[1]
  return token !== undefined && token.length <= MAX_TOKEN_LENGTH ? token : undefined
}

const authenticateApiKey = async (
  sql: Sql,
  log: Pick<Log, 'warn'>,
  key: string,
): Promise<ApiKeyOwner> => {
  const sha256 = digest(key)
  const found = await withinDeadline(sql, findApiKey(sql, sha256))
  if (found === undefined) throw new CredentialRejected('API key unknown, revoked or expired')
  if (found.touch_due) await recordUse({ sql, log }, 'an API key', touchApiKey(sql, found.id))
  return found
}

/** Notes the use of a credential, which counts whether that succeeds or not. */
export const recordUse = async (
  { sql, log }: Pick<AuthenticatorOptions, 'sql'> & { log: Pick<Log, 'warn'> },
  what: string,
  touch: Promise<void>,
): Promise<void> =>
  await withinDeadline(sql, touch).catch((error: unknown) =>
    log.warn({ err: error }, `the last use of ${what} was not noted`),
  )

/** Whoever made a personal access token is its caller, who may read what it is for. */
const authenticateToken = async (
  sql: Sql,
  log: Pick<Log, 'warn'>,
  token: string,
): Promise<Caller> => {
  const sha256 = digest(token)
  const found = await withinDeadline(sql, findPersonalAccessToken(sql, { sha256 }))
  if (found === undefined)
    throw new CredentialRejected('personal access token unknown, revoked or expired')
  if (found.touchDue)
    await recordUse(
      { sql, log },
      'a personal access token',
      touchPersonalAccessToken(sql, found.id),
    )
  return { ...callerOf(found.createdBy, 'personal_access_token'), token: found }
}

/** A task token reads its task as the owner of the task does. */
const authenticateTaskToken = async (sql: Sql, token: string): Promise<Caller> => {
  const found = await withinDeadline(sql, findTaskToken(sql, digest(token)))
  if (found === undefined) throw new CredentialRejected('task token unknown or ended')
  return { ...callerOf(found.owner, 'task_token'), taskId: found.taskId }
}

/** Verifies a token. Throws a CredentialRejected with the reason, or what the look-up of the keys throws. */
export const verifyJwt = async (
  token: string,
  verify: (token: string) => Promise<JWTPayload>,
  options: JWTVerifyOptions,
): Promise<JWTPayload> => {
  try {
    return await verify(token)
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (error instanceof joseErrors.JWKSMultipleMatchingKeys)
      return await verifyWithEach(token, error, options)
    throw new CredentialRejected(reasonOf(error))
  }
}

/** A token without a key id may have been signed by any of the keys of its type. */
const verifyWithEach = async (
  token: string,
  candidates: joseErrors.JWKSMultipleMatchingKeys,
  options: JWTVerifyOptions,
): Promise<JWTPayload> => {
  let reason = 'ERR_JWKS_NO_MATCHING_KEY'
  for await (const key of candidates)
    try {
      return (await jwtVerify(token, key, options)).payload
    } catch (error) {
      reason = reasonOf(error)
    }
  throw new CredentialRejected(reason)
}

/**
 * Gives only the code of an error of jose, because the claims that the error carries name a person, and the claim that
 * it is about. Any other error is about a key of the issuer that cannot be used, for example RSA of 1,024 bits. A token
 * that it signed is not valid either.
 */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof joseErrors.JOSEError)) return `key not usable: ${String(error)}`
  const { claim } = error as { claim?: string }
  return claim === undefined ? error.code : `${error.code} ${claim}`
}

/**
 * The user id of a token. Control characters and lone
 * surrogates are rejected because PostgreSQL and log readers choke on them.
 */
const readSubject = ({ sub }: JWTPayload): string => {
  const length = typeof sub === 'string' ? Array.from(sub).length : 0
  if (typeof sub !== 'string' || length < 1 || length > 255)
    throw new CredentialRejected('sub: length')
  if (isReservedUser(sub) || /[\p{Cc}\p{Cs}]/u.test(sub))
    throw new CredentialRejected('sub: reserved')
  return sub
}
