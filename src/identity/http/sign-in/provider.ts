import { createHmac, randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'

import escape from 'escape-html'
import { interactionPolicy, Provider, type Account as ProviderAccount } from 'oidc-provider'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'

import { withinDeadline } from '../../../platform/db/client.ts'
import { findLiveAccount } from '../../db/account.ts'
import { digest } from '../access/digest.ts'
import { makeAdapter } from './provider-store.ts'
import type { SignInDeps } from './deps.ts'
import { ALGORITHM } from './keys.ts'
import { renderPage, SIGN_IN_PATH } from './pages.ts'

const ACCESS_SECONDS = 600
const CODE_SECONDS = 60
/** From the page of the console to a password that somebody has to look up. */
const INTERACTION_SECONDS = 3600
const SESSION_SECONDS = 14 * 86_400

/** Makes the OpenID provider, for one public client: the console. */
export const makeProvider = (deps: SignInDeps): Provider => {
  const { issuer, origin, clientId, audience, cookieKeys, keys } = deps
  const provider = new Provider(issuer, {
    ...FIXED,
    adapter: makeAdapter(deps),
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [`${origin}/console/signed-in`],
        post_logout_redirect_uris: [`${origin}/console/`],
        id_token_signed_response_alg: ALGORITHM,
      },
    ],
    jwks: { keys: keys.jwks.map((key) => ({ ...key })) as never },
    cookies: { ...cookiesOf(origin), keys: [...cookieKeys] },
    features: {
      ...FEATURES,
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: ACCESS_SECONDS,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: ALGORITHM } },
        }),
      },
    },
    clientBasedCORS: (_ctx, from) => from === origin,
    findAccount: (_ctx, id) => findProviderAccount(deps, id),
    extraTokenClaims: async (_ctx, token) =>
      'accountId' in token
        ? { ...(await claimsOf(deps, token.accountId)), sid: digest(String(token['sessionUid'])) }
        : undefined,
    loadExistingGrant: grantAll,
  })
  // A refresh token is made of the one before it, so that two requests with that get the same.
  const generateTokenId = (): string => {
    const before = Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti ?? randomUUID()
    const hmac = createHmac('sha256', cookieKeys[0] ?? '').update(`refresh token after ${before}`)
    return hmac.digest('base64url')
  }
  Object.assign(provider.RefreshToken.prototype, { generateTokenId })
  // The middleware before it has set both from PUBLIC_URL.
  provider.proxy = true
  const logError = (err: unknown, ctx?: KoaContextWithOIDC): void =>
    deps.log.error({ ...requestOf(ctx), err }, 'the provider failed')
  provider.on('server_error', (ctx, err) => logError(err, ctx))
  // Koa's own event, which the types leave out.
  const app: Pick<EventEmitter, 'on'> = provider
  app.on('error', logError)
  const logRejected = (ctx: KoaContextWithOIDC, error: Rejected): void =>
    deps.log.info(
      { ...requestOf(ctx), reason: error.error_detail ?? error.message },
      'sign-in rejected',
    )
  provider.on('authorization.error', logRejected)
  provider.on('grant.error', logRejected)
  return provider
}

const requestOf = (ctx: KoaContextWithOIDC | undefined) => ({
  request_id: ctx?.res.getHeader('x-request-id'),
})

type Rejected = Error & { error_detail?: string | undefined }

const cookiesOf = (origin: string): NonNullable<Configuration['cookies']> => {
  const common = { httpOnly: true, sameSite: 'lax', secure: origin.startsWith('https:') } as const
  return {
    names: { session: 'kiln_session', interaction: 'kiln_sign_in', resume: 'kiln_resume' },
    long: { ...common, signed: true, path: '/auth' },
    short: { ...common, signed: true },
  }
}

/** Only the prompt for a password or passkey: the console is a part of this service, so nobody is asked for consent. */
const makePolicy = () => {
  const policy = interactionPolicy.base()
  policy.remove('consent')
  return policy
}

const FEATURES: NonNullable<Configuration['features']> = {
  devInteractions: { enabled: false },
  userinfo: { enabled: false },
  revocation: { enabled: true },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: (ctx, form) => {
      ctx.body = renderPage(
        'Sign out',
        `${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
      )
    },
    postLogoutSuccessSource: (ctx) => {
      ctx.body = renderPage('Signed out', '<p><a href="/console/">To the console</a></p>')
    },
  },
}

const FIXED: Configuration = {
  scopes: ['openid', 'profile', 'email'],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  // The console reads the identity token alone.
  conformIdTokenClaims: false,
  responseTypes: ['code'],
  subjectTypes: ['public'],
  enableHttpPostMethods: false,
  pkce: { required: () => true },
  routes: { authorization: '/authorize', end_session: '/sign-out' },
  issueRefreshToken: () => true,
  // Who ends a session ends what it has given.
  expiresWithSession: () => true,
  rotateRefreshToken: true,
  interactions: {
    policy: makePolicy(),
    url: (_ctx, { uid }) => `${SIGN_IN_PATH}${uid}`,
  },
  ttl: {
    AccessToken: ACCESS_SECONDS,
    AuthorizationCode: CODE_SECONDS,
    IdToken: ACCESS_SECONDS,
    Interaction: INTERACTION_SECONDS,
    Session: SESSION_SECONDS,
    Grant: SESSION_SECONDS,
    RefreshToken: SESSION_SECONDS,
  },
  renderError: (ctx, { error, error_description: description }) => {
    ctx.type = 'html'
    ctx.body = renderPage(
      'Signing in failed',
      `<p>${escape(description ?? error)}.</p><p><a href="/console/">To the console</a></p>`,
    )
  },
}

const findProviderAccount = async (
  deps: SignInDeps,
  id: string,
): Promise<ProviderAccount | undefined> => {
  const claims = await claimsOf(deps, id)
  return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) }
}

/** Claims of an account; undefined when it may not sign in. */
const claimsOf = async ({ sql, adminClaim }: SignInDeps, id: string) => {
  const account = await withinDeadline(sql, findLiveAccount(sql, id))
  return (
    account && {
      email: account.email,
      email_verified: true,
      name: account.email,
      ...(account.isAdmin && { [adminClaim.name]: adminClaim.value }),
    }
  )
}

const grantAll = async ({ oidc }: KoaContextWithOIDC) => {
  const { client, session, provider } = oidc
  const clientId = client?.clientId ?? ''
  const accountId = session?.accountId
  if (accountId === undefined) return undefined
  const known = session?.grantIdFor(clientId)
  const kept = known === undefined ? undefined : await provider.Grant.find(known)
  if (kept?.accountId === accountId) return kept
  const grant = new provider.Grant({ clientId, accountId })
  grant.addOIDCScope('openid profile email')
  await grant.save()
  return grant
}
