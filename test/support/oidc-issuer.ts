import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

import { SignJWT, exportJWK, generateKeyPair } from 'jose'

import { listen } from './network.ts'

/** An OpenID provider on this machine, for one public client with PKCE. It asks nobody for a password. */
export type OidcIssuer = Awaited<ReturnType<typeof startOidcIssuer>>

interface Code {
  challenge: string
  redirect: string
  nonce: string | null
}

export const CLIENT = 'kiln-console'
export const AUDIENCE = 'kiln'
const USER = 'alice'

export const startOidcIssuer = async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  /** Settings that a test may change: the seconds an access token says it lives, and refresh tokens and renewals. */
  const rules = { seconds: 3600, refresh: true, renews: true }
  /** Requests to each endpoint, in order: `authorize`, `token`, `revoke`, `end`. */
  const calls: { endpoint: string; parameters: URLSearchParams }[] = []
  const codes = new Map<string, Code>()
  const refreshTokens = new Set<string>()
  const server = createServer((request, response) => void serve(request, response))
  const { port, close } = await listen(server)
  const issuer = `http://127.0.0.1:${port}`

  const sign = (claims: Record<string, unknown>, seconds: number): Promise<string> =>
    new SignJWT({ ...claims, jti: randomUUID() })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(issuer)
      .setSubject(USER)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(privateKey)

  const giveTokens = async (nonce?: string | null): Promise<object> => {
    const refresh = randomUUID()
    if (rules.refresh) refreshTokens.add(refresh)
    return {
      // The service takes it for an hour: tests of its expiry use what the page gets.
      access_token: await sign({ aud: AUDIENCE }, 3600),
      token_type: 'Bearer',
      expires_in: rules.seconds,
      ...(rules.refresh && { refresh_token: refresh }),
      ...(nonce !== undefined && {
        id_token: await sign({ aud: CLIENT, nonce, preferred_username: USER }, 3600),
      }),
    }
  }

  const authorize = (request: IncomingMessage, parameters: URLSearchParams): [string, string] => {
    const read = (name: string): string => parameters.get(name) ?? ''
    const back = new URL(read('redirect_uri'))
    back.searchParams.set('state', read('state'))
    const isKnown = request.headers.cookie?.includes('signed=in') === true
    if (read('prompt') === 'none' && !isKnown) back.searchParams.set('error', 'login_required')
    else {
      const code = randomUUID()
      codes.set(code, {
        challenge: read('code_challenge'),
        redirect: read('redirect_uri'),
        nonce: parameters.get('nonce'),
      })
      back.searchParams.set('code', code)
    }
    return [back.href, isKnown || read('prompt') !== 'none' ? 'signed=in' : '']
  }

  const exchange = async (parameters: URLSearchParams): Promise<object | undefined> => {
    if (parameters.get('client_id') !== CLIENT) return undefined
    if (parameters.get('grant_type') === 'refresh_token') {
      const isGood = refreshTokens.delete(parameters.get('refresh_token') ?? '')
      return isGood && rules.renews ? await giveTokens() : undefined
    }
    const code = codes.get(parameters.get('code') ?? '')
    codes.delete(parameters.get('code') ?? '')
    const verifier = parameters.get('code_verifier') ?? ''
    const isOwn =
      code !== undefined &&
      code.redirect === parameters.get('redirect_uri') &&
      createHash('sha256').update(verifier).digest('base64url') === code.challenge
    return isOwn ? await giveTokens(code.nonce) : undefined
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', issuer)
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', '*')
    const json = (body: object, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const leave = (location: string, cookie: string): void => {
      const stored = cookie === '' ? 'signed=; Max-Age=0' : cookie
      response.writeHead(302, { location, 'set-cookie': `${stored}; HttpOnly; Path=/` }).end()
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (url.pathname === '/.well-known/openid-configuration')
      return json({
        issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        revocation_endpoint: `${issuer}/revoke`,
        end_session_endpoint: `${issuer}/end`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    if (url.pathname === '/keys') return json({ keys: [key] })
    const parameters =
      request.method === 'POST' ? new URLSearchParams(await text(request)) : url.searchParams
    calls.push({ endpoint: url.pathname.slice(1), parameters })
    if (url.pathname === '/authorize') return leave(...authorize(request, parameters))
    if (url.pathname === '/end') return leave(parameters.get('post_logout_redirect_uri') ?? '/', '')
    if (url.pathname === '/revoke') return json({})
    const tokens = await exchange(parameters)
    json(tokens ?? { error: 'invalid_grant' }, tokens ? 200 : 400)
  }

  return {
    issuer,
    jwksUrl: `${issuer}/keys`,
    rules,
    calls,
    stop: close,
  }
}
