import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Request, Response, Router } from 'express'

import { findPasswordIssue, hashPassword } from '../../adapters/password.ts'
import { withinDeadline } from '../../db/client.ts'
import { findLiveAccount, updateAccount, type Account } from '../../db/sign-in/account.ts'
import { deletePasskeys, listPasskeys } from '../../db/sign-in/passkey.ts'
import { endSession, endSessions, listSessions } from '../../db/sign-in/record.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { errors } from '../../domain/shared/errors.ts'
import { digest } from '../access/digest.ts'
import type { SignInDeps } from './deps.ts'
import { accountPage, messagePage } from './pages.ts'
import { addPasskey, offerPasskey } from './passkey.ts'
import { checkPassword } from './password.ts'
import { fieldOf, FORM, JSON_BODY, send, type State } from './request.ts'

/** An account with the session that it asks by. */
export interface SignedIn {
  account: Account
  /** Id of the session in the database. */
  session: string
  /** True within an hour of signing in: a browser that was left open changes no password. */
  isFresh: boolean
}

const FRESH_SECONDS = 3600

/** Reads who is signed in, by the cookie of the provider. */
export const readSignedIn = async (
  { sql }: SignInDeps,
  { provider }: State,
  [request, response]: [Request, Response],
): Promise<SignedIn | undefined> => {
  const session = await provider.Session.get(provider.createContext(request, response))
  const { accountId, jti, loginTs = 0 } = session
  const account = accountId && (await withinDeadline(sql, findLiveAccount(sql, accountId)))
  if (!account) return undefined
  const isFresh = Date.now() / 1000 - loginTs < FRESH_SECONDS
  return { account, session: digest(jti), isFresh }
}

export const NOBODY = messagePage('Sign in first', 'Sign in at the console, and come back.')

const STALE = 'You signed in more than an hour ago. Sign out and in again to change this.'

/** Adds the pages on which somebody sees and changes what signs them in. */
export const addAccountPages = (router: Router, deps: SignInDeps, state: State): void => {
  const { sql } = deps
  const show = async (response: Response, { account, session }: SignedIn, issue?: string) => {
    const { id, email, isAdmin, password } = account
    const [sessions, passkeys] = await withinDeadline(
      sql,
      Promise.all([listSessions(sql, id), listPasskeys(sql, id)]),
    )
    const view = {
      email,
      isAdmin,
      hasPassword: password !== null,
      sessions,
      own: session,
      passkeys,
    }
    send(response, issue === undefined ? 200 : 400, accountPage({ ...view, issue }))
  }
  const sessionPath = { '/account/session': false, '/account/sessions': true }
  router.get('/account', async (request, response) => {
    const by = await readSignedIn(deps, state, [request, response])
    if (!by) return send(response, 401, NOBODY)
    await show(response, by)
  })
  for (const [path, areOthers] of Object.entries(sessionPath))
    router.post(path, FORM, async (request, response) => {
      const by = await readSignedIn(deps, state, [request, response])
      if (!by) return send(response, 401, NOBODY)
      const accountId = by.account.id
      const ended = areOthers
        ? endSessions(sql, accountId, by.session)
        : endSession(sql, { accountId, id: fieldOf(request, 'id') })
      await withinDeadline(sql, ended)
      response.redirect(303, '/auth/account')
    })
  router.post('/account/passkeys', FORM, async (request, response) => {
    const by = await readSignedIn(deps, state, [request, response])
    if (!by) return send(response, 401, NOBODY)
    if (!by.isFresh) return await show(response, by, STALE)
    const removed = { accountId: by.account.id, id: fieldOf(request, 'id') }
    await withinDeadline(sql, deletePasskeys(sql, removed))
    response.redirect(303, '/auth/account')
  })
  router.post('/account/password', FORM, async (request, response) => {
    const by = await readSignedIn(deps, state, [request, response])
    if (!by) return send(response, 401, NOBODY)
    const { id, email, password: stored } = by.account
    const password = fieldOf(request, 'password')
    const given = fieldOf(request, 'new')
    const isKnown = stored !== null
    const checked = isKnown ? await checkPassword(deps, { request, email, password }) : by.account
    const issue =
      (by.isFresh ? undefined : STALE) ??
      (typeof checked === 'string' ? checked : findPasswordIssue(given, email))
    if (issue !== undefined) return await show(response, by, issue)
    const next = await hashPassword(given)
    await unitOfWork({ sql }, async (sql) => {
      await updateAccount(sql, id, { password: next })
      await endSessions(sql, id, by.session)
    })
    response.redirect(303, '/auth/account')
  })
  const requireFresh = async (request: Request, response: Response): Promise<Account> => {
    const by = await readSignedIn(deps, state, [request, response])
    if (!by?.isFresh) throw errors.unauthorized()
    return by.account
  }
  router.post('/account/passkey/options', async (request, response) => {
    response.json(await offerPasskey(deps, await requireFresh(request, response)))
  })
  router.post('/account/passkey', JSON_BODY, async (request, response) => {
    const account = await requireFresh(request, response)
    const made = Object(request.body) as RegistrationResponseJSON
    if (!(await addPasskey(deps, account, made))) throw errors.unauthorized()
    response.json({ location: '/auth/account' })
  })
}
