import type { Request, Router } from 'express'

import { changeAccount } from '../../adapters/accounts.ts'
import { findPasswordIssue, hashPassword } from '../../adapters/password.ts'
import { withinDeadline } from '../../../platform/db/client.ts'
import { findLiveAccount, updateAccount } from '../../db/account.ts'
import { findLinkAccount, takeOnce } from '../../db/once.ts'
import { endSessions } from '../../db/session.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { digest } from '../access/digest.ts'
import { addressOf } from '../../../platform/http/access/principal.ts'
import type { SignInDeps } from './deps.ts'
import { linkPage, messagePage } from './pages.ts'
import { auditBy, fieldOf, FORM, send } from './request.ts'

const OVER = messagePage(
  'This link is over',
  'It was used, has ended, or a newer one was made. Ask an admin for another.',
)
const CHANGED = { password: 'set' }
const PASSWORD_SET = messagePage('Password set', 'Sign in with it.')

/** Adds the page that a link leads to. Looking at it does not use it up: programs look at links in mail. */
export const addLinkPage = (router: Router, deps: SignInDeps): void => {
  const { sql } = deps
  const find = async (request: Request) => {
    const sha256 = digest(String(request.params['token']))
    const id = await withinDeadline(sql, findLinkAccount(sql, sha256))
    const account = id && (await withinDeadline(sql, findLiveAccount(sql, id)))
    return account ? { account, sha256 } : undefined
  }
  router.get('/link/:token', async (request, response) => {
    const found = await find(request)
    send(response, found ? 200 : 404, found ? linkPage({ email: found.account.email }) : OVER)
  })
  router.post('/link/:token', FORM, async (request, response) => {
    const found = await find(request)
    if (!found) return send(response, 404, OVER)
    const { account, sha256 } = found
    const { id: accountId, email } = account
    const given = fieldOf(request, 'new')
    const issue = findPasswordIssue(given, email)
    if (issue !== undefined) return send(response, 400, linkPage({ email, issue }))
    const password = await hashPassword({ password: given, address: addressOf(request) })
    const isSet = await unitOfWork({ sql }, async (sql) => {
      if (!(await takeOnce(sql, { sha256, kind: 'link', accountId }))) return false
      const audit = { ...auditBy(accountId, request, response), credential: 'link' }
      const change = { id: accountId, action: 'account.password', more: CHANGED } as const
      await changeAccount(sql, audit, change, async () => {
        await updateAccount(sql, accountId, { password })
        await endSessions(sql, accountId)
      })
      return true
    })
    send(response, isSet ? 200 : 404, isSet ? PASSWORD_SET : OVER)
  })
}
