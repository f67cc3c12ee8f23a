/** Client of the console where the api is its own issuer. */
const CLIENT = 'kiln-console'
/** Claim of the tokens of its admins. */
const ADMIN_CLAIM = 'role=admin'

/** Settings that AUTH=builtin makes itself. */
export const BUILTIN_SETTINGS = ['AUTH_ISSUER', 'AUTH_JWKS_URL'] as const

/** Takes the slashes off the end of an address, to which paths are added. */
export const withoutSlash = (url = ''): string => url.replace(/\/+$/, '')

/** Adds what follows from AUTH=builtin: the api is the issuer, below `/auth` of PUBLIC_URL. */
export const fillBuiltin = (
  given: Record<string, string | undefined>,
): Record<string, string | undefined> => {
  if (given['AUTH'] !== 'builtin') return given
  const publicUrl = withoutSlash(given['PUBLIC_URL'] ?? 'http://localhost')
  return {
    AUTH_AUDIENCE: publicUrl,
    ADMIN_CLAIM,
    CONSOLE_CLIENT_ID: CLIENT,
    ...given,
    AUTH_ISSUER: `${publicUrl}/auth`,
    AUTH_JWKS_URL: `${publicUrl}/auth/jwks`,
  }
}
