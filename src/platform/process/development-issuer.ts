import { SignJWT, importJWK, type JWK } from 'jose'

/** `iss` of the tokens of the development issuer. */
export const DEVELOPMENT_ISSUER = 'urn:kiln:development'

/** `aud` of the tokens of the development issuer. */
export const DEVELOPMENT_AUDIENCE = 'kiln'

export const DEVELOPMENT_ALGORITHM = 'ES256'

/** A working day, so that the token printed at the start lasts as long as the terminal it was printed in. */
const TOKEN_SECONDS = 12 * 3600

/** When a token that was signed at `issuedAt` ends. */
export const tokenExpiry = (issuedAt: Date): Date =>
  new Date(issuedAt.getTime() + TOKEN_SECONDS * 1000)

/** Signs a bearer token for a user; `subject` becomes the owner of everything made with it. Throws for one that the api rejects. */
export const signToken = async (
  key: JWK,
  subject: string,
  { audience = DEVELOPMENT_AUDIENCE, issuedAt = new Date() } = {},
): Promise<string> => {
  if (subject.length < 1 || subject.length > 255 || subject === 'anonymous')
    throw new Error(
      `a token is for a user of 1 to 255 characters other than "anonymous", got ${JSON.stringify(subject.slice(0, 80))}`,
    )
  return await new SignJWT()
    .setProtectedHeader({
      alg: DEVELOPMENT_ALGORITHM,
      ...(key.kid === undefined ? {} : { kid: key.kid }),
    })
    .setIssuer(DEVELOPMENT_ISSUER)
    .setAudience(audience)
    .setSubject(subject)
    .setIssuedAt(issuedAt)
    .setExpirationTime(tokenExpiry(issuedAt))
    .sign(await importJWK(key, DEVELOPMENT_ALGORITHM))
}
