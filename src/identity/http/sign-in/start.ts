import { hkdfSync } from 'node:crypto'

import type { JWTVerifyGetKey } from 'jose'

import { startLoop, type Loop } from '../../../platform/process/loop.ts'
import type { PlatformConfig } from '../../../platform/settings/settings.ts'
import type { IdentityConfig } from '../../settings.ts'
import type { SignInDeps } from './deps.ts'
import { makeSigningKeys } from './keys.ts'
import { makeSignIn, type SignIn } from './router.ts'

/** An api learns of a key that another made within this time, long before it signs. */
const RENEW_MS = 60_000

/** Starts the issuer that the api itself is. */
export const startSignIn = async (
  config: IdentityConfig & PlatformConfig,
  given: Pick<
    SignInDeps,
    'sql' | 'secrets' | 'log' | 'limits' | 'isPlatformAdmin' | 'cancelOnOthers'
  >,
): Promise<Pick<SignIn, 'handle'> & Loop & { verify: JWTVerifyGetKey }> => {
  const { node } = process.versions
  // What the library is made for. It runs on Node 20, too, where its own warning is patched away.
  if (Number.parseInt(node, 10) < 22)
    given.log.warn(`AUTH=builtin wants Node 22 or later in production, this is ${node}`)
  const keys = await makeSigningKeys(given)
  const [name = '', value = ''] = config.ADMIN_CLAIM.split(/=(.*)/s)
  const signIn = await makeSignIn({
    ...given,
    keys,
    issuer: config.AUTH_ISSUER,
    origin: new URL(config.PUBLIC_URL).origin,
    clientId: config.CONSOLE_CLIENT_ID,
    audience: config.AUTH_AUDIENCE,
    cookieKeys: config.SIGNING_KEYS.map(deriveKey),
    adminClaim: { name, value },
  })
  const loop = startLoop('signing keys', signIn.renew, { intervalMs: RENEW_MS, log: given.log })
  return { handle: signIn.handle, verify: keys.verify, stop: loop.stop }
}

/** Cookies have keys of their own, so that nothing signed for a link is one. */
const deriveKey = (key: string): string =>
  Buffer.from(
    hkdfSync('sha256', Buffer.from(key, 'base64'), '', 'kiln sign-in cookies', 32),
  ).toString('base64url')
