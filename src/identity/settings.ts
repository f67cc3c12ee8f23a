import { Type, type Static } from 'typebox'

import type { JWK } from 'jose'

import {
  text,
  optionalText,
  choice,
  count,
  list,
  type WithLists,
} from '../platform/settings/schema.ts'

/** Settings of who signs in, and what callers may. */
export const IdentitySettings = Type.Object({
  AUTH: choice(
    ['issuer', 'builtin'],
    'issuer',
    'Who signs users in: the issuer of AUTH_ISSUER, or the api itself, which then sets AUTH_ISSUER and AUTH_JWKS_URL.',
  ),
  AUTH_ISSUER: {
    ...text('Expected `iss` of bearer tokens.'),
    'x-expectation': 'an issuer, or AUTH be builtin',
  },
  AUTH_AUDIENCE: text('Expected `aud` of bearer tokens.'),
  AUTH_JWKS_URL: text('Key set of the issuer.'),
  CONSOLE_CLIENT_ID: optionalText(
    'Client id of the console at the issuer. Without it nobody can sign in there.',
  ),
  CONSOLE_SCOPES: text('Scopes that the console asks the issuer for.', 'openid profile email'),
  CONSOLE_AUTH_PARAMS: optionalText(
    'Further parameters of that request, such as `audience=kiln&resource=x`.',
  ),
  CONSOLE_AUTH_ORIGINS: list(
    'Origins of the issuer that the console calls; without it the origin of AUTH_ISSUER.',
  ),
  ADMIN_SUBJECTS: list('Subjects of the tokens of platform admins, who moderate the registry.'),
  ADMIN_CLAIM: optionalText(
    'A claim, `name=value`, of the tokens of platform admins; one item of a list is enough, and dots lead into objects, as in `realm_access.roles=admin`.',
  ),
  KEY_MAX_DAYS: count(
    'Longest life of an API key or personal access token, in days; one that is made must have an `expires_at` then. Those made before stay. 0: as long as its maker likes.',
    0,
    0,
    36_500,
  ),
  RATE_LIMITS: Type.String({
    pattern: '^(on|off|\\d{1,6}(\\.\\d{1,6})?)$',
    default: 'on',
    description: 'Quotas of requests: `on`, `off`, or a factor for all of them.',
    'x-expectation': 'on, off or a factor',
  }),
})

/** Numbers of who signs in, and what callers may that an operator has no reason to change. */
export const IdentityConstants = Type.Object({
  /** Private JWK of the embedded stack that `POST /development/tokens` signs with, and the switch of that route. */
  DEVELOPMENT_ISSUER_KEY: Type.String({ default: '' }),
  /** Users with tokens by `POST /development/tokens`: two who see what the other may not, and a platform admin. */
  DEVELOPMENT_USERS: Type.String({ default: 'alice,bob,operator' }),
})

export type IdentityConfig = WithLists<
  Static<typeof IdentitySettings> & Static<typeof IdentityConstants>,
  'CONSOLE_AUTH_ORIGINS' | 'ADMIN_SUBJECTS' | 'DEVELOPMENT_USERS'
>

/** Reads the factor of all quotas of requests; undefined when nobody is limited. */
export const readRateFactor = ({ RATE_LIMITS }: IdentityConfig): number | undefined => {
  if (RATE_LIMITS === 'off') return undefined
  return RATE_LIMITS === 'on' ? 1 : Number(RATE_LIMITS)
}

/** Reads the users that an api signs tokens for on the embedded stack, and its key; undefined everywhere else. */
export const readDevelopment = (
  config: IdentityConfig,
): { key: JWK; audience: string; users: string[]; admins: string[] } | undefined =>
  config.DEVELOPMENT_ISSUER_KEY === ''
    ? undefined
    : {
        key: JSON.parse(config.DEVELOPMENT_ISSUER_KEY) as JWK,
        audience: config.AUTH_AUDIENCE,
        users: config.DEVELOPMENT_USERS,
        admins: config.ADMIN_SUBJECTS,
      }

/** Origins that the console calls to sign in; the development issuer has none. */
export const readAuthOrigins = ({
  CONSOLE_AUTH_ORIGINS: given,
  AUTH_ISSUER,
}: IdentityConfig): string[] => {
  if (given.length > 0) return given
  return /^https?:/.test(AUTH_ISSUER) && URL.canParse(AUTH_ISSUER)
    ? [new URL(AUTH_ISSUER).origin]
    : []
}
