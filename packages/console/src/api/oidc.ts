import * as oauth from 'oauth4webapi'

import { ownPath, REDIRECT_PATH } from './links.ts'
import type { Data } from './schema.ts'

/** Facts of the service about its issuer. */
type Settings = Data<'/service'>

/** Tokens of the issuer. They are in memory alone. */
export interface Tokens {
  access: string
  refresh: string | undefined
  /** Milliseconds since 1970; Infinity where the issuer does not say. */
  expiresAt: number
  /** Name of the user at the issuer; undefined after a renewal without an identity token. */
  user: string | undefined
}

/** State in sessionStorage between the redirect and the way back: nothing of it is a credential. */
type Attempt = { verifier: string; state: string; nonce: string; path: string; silent: boolean }

const ATTEMPT = 'kiln.signing-in'

const redirectUri = (): string => location.origin + REDIRECT_PATH

/** First arguments of each request to the issuer: a client without a secret. */
const partiesOf = async (settings: Settings) => {
  const own: oauth.Client = { client_id: settings.client_id ?? '' }
  return [await discover(settings.issuer), own, oauth.None()] as const
}

/** Over plain HTTP only an issuer on this machine is spoken to. */
const optionsOf = (issuer: string) => ({
  [oauth.allowInsecureRequests]: /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/.test(issuer),
})

const discover = async (issuer: string): Promise<oauth.AuthorizationServer> => {
  const url = new URL(issuer)
  const response = await oauth.discoveryRequest(url, { ...optionsOf(issuer), algorithm: 'oidc' })
  return await oauth.processDiscoveryResponse(url, response)
}

/** Leaves the page for the issuer. silent: without asking, which fails when the issuer knows nobody. */
export const leaveToSignIn = async (
  settings: Settings,
  { path, silent }: { path: string; silent: boolean },
): Promise<never> => {
  const server = await discover(settings.issuer)
  if (server.authorization_endpoint === undefined)
    throw new Error(`${settings.issuer} names no authorization_endpoint`)
  const attempt: Attempt = {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    path,
    silent,
  }
  sessionStorage.setItem(ATTEMPT, JSON.stringify(attempt))
  const url = new URL(server.authorization_endpoint)
  const parameters = {
    ...settings.auth_params,
    client_id: settings.client_id ?? '',
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: settings.scopes,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
    state: attempt.state,
    nonce: attempt.nonce,
    ...(silent && { prompt: 'none' }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  location.assign(url)
  return await new Promise(() => {})
}

/** Finishes the way back from the issuer: gives tokens, or none where nobody was known and nobody was asked. */
export const finishSignIn = async (
  settings: Settings,
  address: URL,
): Promise<{ path: string; tokens: Tokens | undefined }> => {
  const text = sessionStorage.getItem(ATTEMPT)
  sessionStorage.removeItem(ATTEMPT)
  if (text === null) throw new Error('This page has not asked the issuer for anything.')
  const attempt = JSON.parse(text) as Attempt
  const path = ownPath(attempt.path)
  if (attempt.silent && address.searchParams.has('error')) return { path, tokens: undefined }
  const parties = await partiesOf(settings)
  const [server, own] = parties
  const parameters = oauth.validateAuthResponse(server, own, address, attempt.state)
  const response = await oauth.authorizationCodeGrantRequest(
    ...parties,
    parameters,
    redirectUri(),
    attempt.verifier,
    optionsOf(settings.issuer),
  )
  const isOidc = settings.scopes.split(' ').includes('openid')
  const result = await oauth.processAuthorizationCodeResponse(server, own, response, {
    ...(isOidc && { expectedNonce: attempt.nonce, requireIdToken: true }),
  })
  return { path, tokens: toTokens(result) }
}

/** New tokens for a refresh token; the issuer may give another one in its place. */
export const renewTokens = async (settings: Settings, refresh: string): Promise<Tokens> => {
  const parties = await partiesOf(settings)
  const [server, own] = parties
  const options = optionsOf(settings.issuer)
  const response = await oauth.refreshTokenGrantRequest(...parties, refresh, options)
  const tokens = toTokens(await oauth.processRefreshTokenResponse(server, own, response))
  return { ...tokens, refresh: tokens.refresh ?? refresh }
}

const toTokens = (result: oauth.TokenEndpointResponse): Tokens => {
  const claims = oauth.getValidatedIdTokenClaims(result)
  const names = [claims?.['name'], claims?.['preferred_username'], claims?.['email'], claims?.sub]
  return {
    access: result.access_token,
    refresh: result.refresh_token,
    expiresAt: result.expires_in === undefined ? Infinity : Date.now() + result.expires_in * 1000,
    user: names.find((name): name is string => typeof name === 'string' && name !== ''),
  }
}

/** Ends the session at the issuer: the refresh token is revoked, and where there is an address for it the page leaves for it. */
export const leaveToSignOut = async (settings: Settings, refresh?: string): Promise<void> => {
  const parties = await partiesOf(settings)
  const [server] = parties
  if (refresh !== undefined && server.revocation_endpoint !== undefined)
    await oauth.revocationRequest(...parties, refresh, optionsOf(settings.issuer))
  if (server.end_session_endpoint === undefined) return
  const url = new URL(server.end_session_endpoint)
  // No id_token_hint: no token stands in an address.
  url.searchParams.set('client_id', settings.client_id ?? '')
  url.searchParams.set('post_logout_redirect_uri', `${location.origin}/console/`)
  location.assign(url)
}
