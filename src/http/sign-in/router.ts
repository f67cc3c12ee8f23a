import express from 'express'
import type { Request, RequestHandler, Response, Router } from 'express'
import { errors as providerErrors, type Provider } from 'oidc-provider'

import { findPasswordIssue, hashPassword } from '../../adapters/password.ts'
import { withinDeadline } from '../../db/client.ts'
import { findLiveAccount, setPassword } from '../../db/sign-in/account.ts'
import { findLinkAccount, takeOnce } from '../../db/sign-in/once.ts'
import { endSessions } from '../../db/sign-in/record.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { readEmail } from '../../domain/shared/email.ts'
import { apiError, shown } from '../../domain/shared/errors.ts'
import { digest } from '../access/digest.ts'
import { addressOf } from '../access/principal.ts'
import type { SignInDeps } from './deps.ts'
import { linkPage, messagePage, PAGE_POLICY, signInPage, STYLE } from './pages.ts'
import { checkPassword, rememberDevice, WAIT, WRONG } from './password.ts'
import { makeProvider } from './provider.ts'

/** The pages of AUTH=builtin and its OpenID provider, for `/auth`. */
export interface SignIn {
  handle: RequestHandler
  /** Makes the provider anew when its keys have changed. */
  renew(): Promise<void>
}

export const makeSignIn = (deps: SignInDeps): SignIn => {
  const state = { provider: makeProvider(deps) }
  const router = express.Router({ caseSensitive: true })
  router.use(makePrepare(deps))
  router.get('/assets/style.css', sendFile('text/css', STYLE))
  addSignIn(router, deps, state)
  addLink(router, deps)
  router.use((request, response) => state.provider.callback()(request, response))
  return {
    handle: router,
    renew: async () => {
      if (await deps.keys.renew()) state.provider = makeProvider(deps)
    },
  }
}

/** The provider of now: it is made anew with each key. */
type State = { provider: Provider }

const FORM = express.urlencoded({ extended: false, limit: '8kb' })

/**
 * Makes what comes before all: it counts the request, sets the headers of pages, has the provider build its addresses
 * from PUBLIC_URL and no header, and rejects a form or script that is not of a page of ours.
 */
const makePrepare = ({ origin, limits }: SignInDeps): RequestHandler => {
  const { host, protocol } = new URL(origin)
  return async (request, response, next) => {
    await limits?.take('ip', addressOf(request))
    response.set({
      'content-security-policy': PAGE_POLICY,
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      // Browsers hide the origin of a form under a stricter one.
      'referrer-policy': 'same-origin',
    })
    const { headers, method } = request
    headers.host = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    delete headers['x-forwarded-host']
    const isFromPage = headers.origin === origin
    if (method !== 'GET' && method !== 'HEAD' && !isFromPage)
      throw apiError('forbidden', `Origin must be ${origin}, got ${shown(headers.origin)}`)
    next()
  }
}

const sendFile =
  (type: string, text: string): RequestHandler =>
  (_request, response) => {
    response.set('cache-control', 'public, max-age=3600').type(type).send(text)
  }

/** Text of a field of a form. */
const fieldOf = ({ body }: Request, name: string): string => {
  const value: unknown = Object(body)[name]
  return typeof value === 'string' ? value : ''
}

const send = (response: Response, status: number, page: string): void => {
  response.status(status).type('html').send(page)
}

const EXPIRED = messagePage(
  'Sign in again',
  'This sign-in has ended, or was begun in another browser.',
)

/** Finds the sign-in that the page is of, in the browser that began it. */
const findInteraction = async ({ provider }: State, request: Request, response: Response) => {
  try {
    const interaction = await provider.interactionDetails(request, response)
    return interaction.uid === request.params['uid'] ? interaction : undefined
  } catch (error) {
    if (error instanceof providerErrors.SessionNotFound) return undefined
    throw error
  }
}

const addSignIn = (router: Router, deps: SignInDeps, state: State): void => {
  router.get('/sign-in/:uid', async (request, response) => {
    const isOpen = (await findInteraction(state, request, response)) !== undefined
    send(response, isOpen ? 200 : 400, isOpen ? signInPage({}) : EXPIRED)
  })
  router.post('/sign-in/:uid', FORM, async (request, response) => {
    if (!(await findInteraction(state, request, response))) return send(response, 400, EXPIRED)
    const given = fieldOf(request, 'email')
    const password = fieldOf(request, 'password').slice(0, 1024)
    const checked = await checkPassword(deps, {
      request,
      email: readEmail(given) ?? given.slice(0, 320),
      password,
    })
    if (typeof checked === 'string') {
      if (checked === WRONG) await deps.limits?.take('auth', addressOf(request))
      return send(
        response,
        checked === WAIT ? 429 : 401,
        signInPage({ email: given, issue: checked }),
      )
    }
    rememberDevice(deps, response, checked.id)
    await finish(state, { request, response, accountId: checked.id, by: 'pwd' })
  })
}

interface Finished {
  request: Request
  response: Response
  accountId: string
  /** Method, as RFC 8176 names it. */
  by: 'pwd' | 'hwk'
}

const finish = ({ provider }: State, { request, response, accountId, by }: Finished) =>
  provider.interactionFinished(
    request,
    response,
    { login: { accountId, amr: [by] } },
    { mergeWithLastSubmission: false },
  )

const LINK_OVER = messagePage(
  'This link is over',
  'It was used, has ended, or a newer one was made. Ask an admin for another.',
)

const addLink = (router: Router, deps: SignInDeps): void => {
  const { sql } = deps
  const find = async (request: Request) => {
    const sha256 = digest(String(request.params['token']))
    const id = await withinDeadline(sql, findLinkAccount(sql, sha256))
    const account =
      id === undefined ? undefined : await withinDeadline(sql, findLiveAccount(sql, id))
    return account && { account, sha256 }
  }
  router.get('/link/:token', async (request, response) => {
    const found = await find(request)
    send(response, found ? 200 : 404, found ? linkPage({ email: found.account.email }) : LINK_OVER)
  })
  router.post('/link/:token', FORM, async (request, response) => {
    const found = await find(request)
    if (!found) return send(response, 404, LINK_OVER)
    const { account, sha256 } = found
    const { id: accountId, email } = account
    const password = fieldOf(request, 'password')
    const issue = findPasswordIssue(password, email)
    if (issue !== undefined) return send(response, 400, linkPage({ email, issue }))
    const stored = await hashPassword(password)
    const isSet = await unitOfWork({ sql }, async (sql) => {
      if (!(await takeOnce(sql, { sha256, kind: 'link', accountId }))) return false
      await setPassword(sql, accountId, stored)
      await endSessions(sql, accountId)
      return true
    })
    send(response, isSet ? 200 : 404, isSet ? PASSWORD_SET : LINK_OVER)
  })
}

const PASSWORD_SET = messagePage('Password set', 'Sign in with it.')
