import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Request, RequestHandler, Response, Router } from 'express'

import { changeAccount, type AccountChange } from '../../adapters/accounts.ts'
import { findPasswordIssue, hashPassword } from '../../adapters/password.ts'
import { withinDeadline, type Transaction } from '../../../platform/db/client.ts'
import { findLiveAccount, updateAccount, type Account } from '../../db/account.ts'
import { deletePasskeys, insertPasskey, listPasskeys } from '../../db/passkey.ts'
import { endSession, endSessions, listSessions } from '../../db/session.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { apiError, errors } from '../../../platform/domain/errors.ts'
import { digest } from '../access/digest.ts'
import { addressOf } from '../../../platform/http/access/principal.ts'
import type { SignInDeps } from './deps.ts'
import { accountPage, messagePage } from './pages.ts'
import { checkNewPasskey, offerPasskey } from './passkey.ts'
import { checkPassword } from './password.ts'
import { auditBy, fieldOf, FORM, JSON_BODY, send, type State } from './request.ts'

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
    const { id, email, password } = account
    const [sessions, passkeys] = await withinDeadline(
      sql,
      Promise.all([listSessions(sql, id), listPasskeys(sql, id)]),
    )
    const view = {
      email,
      isAdmin: await deps.isPlatformAdmin(id),
      hasPassword: password !== null,
      sessions,
      own: session,
      passkeys,
    }
    send(response, issue === undefined ? 200 : 400, accountPage({ ...view, issue }))
  }
  /** Changes the account of whoever is signed in, with its entry in the audit log. */
  const change = (
    [{ account }, request, response]: Parameters<Act>,
    given: Omit<AccountChange, 'id'>,
    work: (sql: Transaction) => Promise<unknown>,
  ) =>
    unitOfWork({ sql }, (sql) =>
      changeAccount(sql, auditBy(account.id, request, response), { id: account.id, ...given }, () =>
        work(sql),
      ),
    )
  const get = (path: string, act: Act) => router.get(path, ask(act))
  const post = (path: string, act: Act) => router.post(path, FORM, ask(act))
  const ask =
    (act: Act): RequestHandler =>
    async (request, response) => {
      const by = await readSignedIn(deps, state, [request, response])
      if (by) await act(by, request, response)
      else send(response, 401, NOBODY)
    }
  get('/account', async (by, _request, response) => await show(response, by))
  post('/account/session', async (by, request, response) => {
    const ended = { accountId: by.account.id, id: fieldOf(request, 'id') }
    await change([by, request, response], ENDS, (sql) => endSession(sql, ended))
    response.redirect(303, '/auth/account')
  })
  post('/account/sessions', async (by, request, response) => {
    const { account, session } = by
    await change([by, request, response], ENDS, (sql) => endSessions(sql, account.id, session))
    response.redirect(303, '/auth/account')
  })
  post('/account/passkeys', async (by, request, response) => {
    if (!by.isFresh) return await show(response, by, STALE)
    const removed = { accountId: by.account.id, id: fieldOf(request, 'id') }
    const given = { action: 'account.passkey_remove', more: { passkey: removed.id } } as const
    await change([by, request, response], given, (sql) => deletePasskeys(sql, removed))
    response.redirect(303, '/auth/account')
  })
  post('/account/password', async (by, request, response) => {
    const { account, session, isFresh } = by
    const issue = isFresh ? await findChangeIssue(deps, request, account) : STALE
    if (issue !== undefined) return await show(response, by, issue)
    const address = addressOf(request)
    const password = await hashPassword({ password: fieldOf(request, 'new'), address })
    const given = { action: 'account.password', more: { password: 'set' } } as const
    await change([by, request, response], given, async (sql) => {
      await updateAccount(sql, account.id, { password })
      await endSessions(sql, account.id, session)
    })
    response.redirect(303, '/auth/account')
  })
  const getFresh = async (request: Request, response: Response): Promise<SignedIn> => {
    const by = await readSignedIn(deps, state, [request, response])
    if (!by) throw errors.unauthorized()
    if (!by.isFresh) throw apiError('forbidden', STALE)
    return by
  }
  router.post('/account/passkey/options', async (request, response) => {
    const { account } = await getFresh(request, response)
    response.json(await offerPasskey(deps, account))
  })
  router.post('/account/passkey', JSON_BODY, async (request, response) => {
    const by = await getFresh(request, response)
    const made = Object(request.body) as RegistrationResponseJSON
    const passkey = await checkNewPasskey(deps, by.account, made)
    if (!passkey) throw errors.unauthorized()
    const given = { action: 'account.passkey_add' } as const
    await change([by, request, response], given, async (sql) => {
      if (!(await insertPasskey(sql, passkey))) throw apiError('passkey_exists')
    })
    response.json({ location: '/auth/account' })
  })
}

const ENDS = { action: 'account.sessions_end' } as const

type Act = (by: SignedIn, request: Request, response: Response) => Promise<void>

/** Says why a password is not changed; an account that has one must give it. */
const findChangeIssue = async (deps: SignInDeps, request: Request, account: Account) => {
  const { email } = account
  const password = fieldOf(request, 'password')
  const checked =
    account.password === null ? account : await checkPassword(deps, { request, email, password })
  return typeof checked === 'string' ? checked : findPasswordIssue(fieldOf(request, 'new'), email)
}
