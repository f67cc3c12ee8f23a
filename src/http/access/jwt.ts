import { errors as joseErrors, jwtVerify } from 'jose'
import type { JWTPayload, JWTVerifyOptions } from 'jose'

import { ApiError } from '../../domain/shared/errors.ts'

/** A credential that does not hold. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** Only signatures by public keys: `none` and secrets are no choice, whatever a token says of itself. */
export const JWT_RULES = {
  algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
  clockTolerance: 60,
} satisfies JWTVerifyOptions

/** Verifies a token. Throws a Refusal with the reason, or what the look-up of the keys throws. */
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
    throw new Refusal(reasonOf(error))
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
  throw new Refusal(reason)
}

/**
 * Only the code of a fault of jose, because the claims that the fault carries name a person, and the claim that it is
 * about. Any other error is about a key of the issuer that cannot be used, for example RSA of 1,024 bits. A token that it
 * signed is not valid either.
 */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof joseErrors.JOSEError)) return `key not usable: ${String(error)}`
  const { claim } = error as { claim?: string }
  return claim === undefined ? error.code : `${error.code} ${claim}`
}
