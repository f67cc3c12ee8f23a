import type { RequestHandler } from 'express'

import { LostSecretError } from '../platform/adapters/secrets.ts'
import type { ApiBase } from '../platform/api.ts'
import { errors } from '../platform/domain/errors.ts'
import type { DescribePage } from '../platform/http/console/page-facts.ts'
import { makeConsole } from '../platform/http/console/serve.ts'
import { makeRateLimits } from '../platform/http/access/rate-limit.ts'
import type { Log } from '../platform/log.ts'
import { readOrigins } from '../platform/process/open-storage.ts'
import { readOutboundRules, type PlatformConfig } from '../platform/settings/settings.ts'
import { makeFetchKeys, makeKeySet } from './adapters/key-set.ts'
import { makeAuthenticator } from './http/access/auth.ts'
import { findClaimIssue, makeIsAdmin } from './http/access/claims.ts'
import { makeLinkedUser } from './http/access/linked-user.ts'
import { makeIsAdminAccount, makeIsSessionLive } from './http/access/recent-check.ts'
import { makeUserRecorder } from './http/access/user-recorder.ts'
import type { SignInDeps } from './http/sign-in/deps.ts'
import { readAuthOrigins, readRateFactor, type IdentityConfig } from './settings.ts'

/** Makes what finds the caller of a request; AUTH=builtin starts the issuer, too. */
export const makeIdentityApi = async (
  base: ApiBase,
  config: IdentityConfig & PlatformConfig,
  { describePage, ...given }: Pick<SignInDeps, 'cancelOnOthers'> & { describePage: DescribePage },
) => {
  const { sql, secrets, log } = base
  const isBuiltin = config.AUTH === 'builtin'
  const rateFactor = readRateFactor(config)
  const rateLimits = rateFactor === undefined ? undefined : makeRateLimits(rateFactor)
  const claimIssue = findClaimIssue(config.ADMIN_CLAIM, config.AUTH_ISSUER)
  if (claimIssue !== undefined) log.warn(`ADMIN_CLAIM makes nobody an admin: ${claimIssue}`)
  const isPlatformAdmin = makeIsAdmin({
    subjects: config.ADMIN_SUBJECTS,
    claim: config.ADMIN_CLAIM,
    isAdminAccount: isBuiltin ? makeIsAdminAccount({ sql }) : undefined,
  })
  // The provider is loaded only where it serves.
  const signIn = isBuiltin
    ? await (
        await import('./http/sign-in/start.ts')
      )
        .startSignIn(config, { sql, secrets, log, limits: rateLimits, isPlatformAdmin, ...given })
        .catch((error: unknown) => loseSignIn(error, log))
    : undefined
  return {
    isBuiltin,
    rateLimits,
    signIn: signIn?.handle,
    authenticate: makeAuthenticator({
      issuer: config.AUTH_ISSUER,
      audience: config.AUTH_AUDIENCE,
      keys:
        signIn?.verify ??
        makeKeySet({
          url: config.AUTH_JWKS_URL,
          log,
          fetch: makeFetchKeys(config.AUTH_JWKS_URL, readOutboundRules(config)),
        }),
      sql,
      log,
      users: makeUserRecorder({ sql }),
      userOf: signIn ? undefined : makeLinkedUser({ sql }),
      isSessionLive: signIn && makeIsSessionLive({ sql }),
      isPlatformAdmin,
    }),
    console: await makeConsolePages(base, config, describePage),
    loops: signIn ? [signIn] : [],
  }
}

/** Makes the substitute of an issuer whose keys nothing opens: API keys go on, and whoever signs in reads 503. */
const loseSignIn = (thrown: unknown, log: Log) => {
  if (!(thrown instanceof LostSecretError)) throw thrown
  log.error(
    'nobody can sign in, because SECRETS_KEYS do not open the signing keys: put the key that was in use back into it; where it is lost, `kiln operate secrets forget --what sign-in`. Then start this process again',
  )
  const lost = errors.authUnavailable(thrown)
  const handle: RequestHandler = (_request, _response, next) => next(lost)
  return { handle, verify: () => Promise.reject(lost), stop: () => Promise.resolve() }
}

/** The pages of the console; undefined where it is off or not built. */
const makeConsolePages = async (
  { storage, log, publicUrl }: ApiBase,
  config: IdentityConfig & PlatformConfig,
  describePage: DescribePage,
) => {
  if (config.CONSOLE === 'off') return undefined
  const pages = await makeConsole({
    publicUrl,
    describePage,
    authOrigins: readAuthOrigins(config),
    storeOrigins: await readOrigins(storage),
    reread: config.NODE_ENV !== 'production',
  })
  if (!pages) log.warn('the console at /console/ is not built: `npm run build` makes it')
  return pages
}
