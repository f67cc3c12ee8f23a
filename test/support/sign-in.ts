import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'

import { makeUserCommand, type UserCommand } from '../../src/operate/user.ts'
import { AUDIT } from '../registry/db/registry-place.ts'
import type { Service, UsedService } from './service.ts'

/** Settings with which the api is its own issuer. */
export const BUILTIN = { AUTH: 'builtin', AUTH_ISSUER: '', AUTH_JWKS_URL: '', AUTH_AUDIENCE: '' }

export const PASSWORD = 'gravel saucer eleven tulip'

/** Runs `kiln operate user …` on the database of a service. */
export const operateUser = (
  { sql, baseUrl }: Pick<UsedService, 'sql' | 'baseUrl'>,
  command: Partial<UserCommand> & Pick<UserCommand, 'verb'>,
): Promise<string> =>
  makeUserCommand({ sql, audit: AUDIT, publicUrl: baseUrl, isBuiltin: true })({
    email: '',
    isAdmin: false,
    subject: '',
    endsKeys: false,
    ...command,
  })

/** The link in what a command printed. */
export const linkIn = (text: string): string => {
  const link = /https?:\S+\/auth\/link\/\S+/.exec(text)?.[0]
  assert.ok(link, text)
  return link
}

/** Adds an account with a password. Returns its address. */
export const addAccount = async (
  service: Pick<UsedService, 'sql' | 'baseUrl'>,
  { email = `${randomBytes(6).toString('hex')}@example.com`, isAdmin = false } = {},
): Promise<string> => {
  const link = linkIn(await operateUser(service, { verb: 'add', email, isAdmin }))
  const response = await new Visitor(service.baseUrl).post(link, { new: PASSWORD })
  assert.equal(response.status, 200, response.text)
  return email
}

export interface Shown {
  status: number
  text: string
  headers: Headers
  /** Address that it leads to. */
  location: string
}

interface Cookie {
  name: string
  value: string
  path: string
  attributes: string
}

/** Somebody with a browser: cookies by path, no redirect followed unless asked to. */
export class Visitor {
  cookies: Cookie[] = []
  readonly baseUrl: string
  readonly headers: Record<string, string>

  constructor(baseUrl: string, headers: Record<string, string> = {}) {
    this.baseUrl = baseUrl
    this.headers = headers
  }

  get = (path: string): Promise<Shown> => this.send(path, { method: 'GET' })

  /** Sends a form as a page of the service does. */
  post = (
    path: string,
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Shown> =>
    this.send(path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: this.baseUrl, ...headers },
    })

  async send(path: string, init: RequestInit): Promise<Shown> {
    const url = new URL(path, this.baseUrl)
    const cookie = this.cookies
      .filter(
        ({ path: own }) =>
          url.pathname === own || url.pathname.startsWith(own.replace(/\/?$/, '/')),
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const headers = { ...this.headers, ...(init.headers as Record<string, string>), cookie }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.keep(line, url)
    return {
      status: response.status,
      text: await response.text(),
      headers: response.headers,
      location: response.headers.get('location') ?? '',
    }
  }

  keep(line: string, url: URL): void {
    const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? []
    const path = /path=([^;]+)/i.exec(attributes)?.[1] ?? url.pathname
    this.cookies = this.cookies.filter((cookie) => cookie.name !== name || cookie.path !== path)
    if (value !== '' && !/expires=Thu, 01 Jan 1970/i.test(attributes))
      this.cookies.push({ name, value, path, attributes })
  }

  cookie = (name: string): Cookie | undefined => this.cookies.find((one) => one.name === name)
}

export interface Tokens {
  access_token: string
  refresh_token: string
  id_token: string
  expires_in: number
}

/** One sign-in of the console: its verifier, and what it asks the issuer. */
export const makeAttempt = (baseUrl: string, changed: Record<string, string> = {}) => {
  const verifier = randomBytes(32).toString('base64url')
  const parameters = {
    client_id: 'kiln-console',
    redirect_uri: `${baseUrl}/console/signed-in`,
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: randomBytes(8).toString('hex'),
    nonce: randomBytes(8).toString('hex'),
    ...changed,
  }
  return { verifier, path: `/auth/authorize?${new URLSearchParams(parameters).toString()}` }
}

/** Goes from the console to the page of the password. Returns its path. */
export const openSignIn = async (visitor: Visitor, path: string): Promise<string> => {
  const { location, text } = await visitor.get(path)
  assert.match(location, /\/auth\/sign-in\/[\w-]+$/, text)
  return location
}

/** Follows the way back to the console. Returns the address that it is sent to. */
export const goBack = async (visitor: Visitor, { location, text }: Shown): Promise<URL> => {
  assert.notEqual(location, '', text)
  const last = await visitor.get(location)
  return new URL(last.location, visitor.baseUrl)
}

export const exchange = async (
  visitor: Visitor,
  parameters: Record<string, string>,
): Promise<Shown> =>
  await visitor.post('/auth/token', {
    client_id: 'kiln-console',
    grant_type: 'authorization_code',
    redirect_uri: `${visitor.baseUrl}/console/signed-in`,
    ...parameters,
  })

/** Signs in with a password, as the console does. */
export const signIn = async (
  { baseUrl }: Pick<Service, 'baseUrl'>,
  email: string,
  { password = PASSWORD, visitor = new Visitor(baseUrl) } = {},
): Promise<{ visitor: Visitor; tokens: Tokens; code: string; verifier: string }> => {
  const { verifier, path } = makeAttempt(baseUrl)
  const page = await openSignIn(visitor, path)
  const back = await goBack(visitor, await visitor.post(page, { email, password }))
  const code = back.searchParams.get('code') ?? ''
  const response = await exchange(visitor, { code, code_verifier: verifier })
  assert.equal(response.status, 200, response.text)
  return { visitor, tokens: JSON.parse(response.text) as Tokens, code, verifier }
}
