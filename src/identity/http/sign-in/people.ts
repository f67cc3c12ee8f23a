import type { Request, Response, Router } from 'express'

import {
  changeAccount,
  disableAccount,
  inviteAccount,
  resetAccount,
  setAdmin,
} from '../../adapters/accounts.ts'
import { withinDeadline, type Transaction } from '../../../platform/db/client.ts'
import type { Audit } from '../../../platform/db/audit-log.ts'
import { listAccounts } from '../../db/account.ts'
import { endSessions } from '../../db/session.ts'
import { unitOfWork } from '../../../platform/db/unit-of-work.ts'
import { readEmail } from '../../domain/email.ts'
import { NOBODY, readSignedIn } from './account.ts'
import type { SignInDeps } from './deps.ts'
import { messagePage, peoplePage } from './pages.ts'
import { auditBy, fieldOf, FORM, send, type State } from './request.ts'

/** Does what a form asks; returns a link to show, or the issue. */
type Act = (
  sql: Transaction,
  request: Request,
  audit: Audit,
) => Promise<{ link?: string; keys?: string; issue?: string } | void>

const FORBIDDEN = messagePage('Not for you', 'This page is for platform admins.')

/** Adds the page of admins: who has an account, and invitations. */
export const addPeoplePages = (router: Router, deps: SignInDeps, state: State): void => {
  const { sql, origin: publicUrl, cancelOnOthers } = deps
  const readAdmin = async (request: Request, response: Response) => {
    const account = (await readSignedIn(deps, state, [request, response]))?.account
    if (account && (await deps.isPlatformAdmin(account.id))) return account
    send(response, account ? 403 : 401, account ? FORBIDDEN : NOBODY)
    return undefined
  }
  router.get('/people', async (request, response) => {
    if (!(await readAdmin(request, response))) return
    const accounts = await withinDeadline(sql, listAccounts(sql))
    send(response, 200, peoplePage({ accounts }))
  })
  const acts: Record<string, Act> = {
    invite: async (sql, request, audit) => {
      const email = readEmail(fieldOf(request, 'email'))
      if (email === undefined) return { issue: 'Enter an email address.' }
      const isAdmin = fieldOf(request, 'admin') === 'yes'
      const invited = await inviteAccount(sql, audit, { email, isAdmin, publicUrl })
      return invited ?? { issue: `${email}, or what looks the same, has an account.` }
    },
    reset: (sql, request, audit) =>
      resetAccount(sql, audit, {
        id: fieldOf(request, 'id'),
        publicUrl,
        endsKeys: fieldOf(request, 'keys') === 'yes',
      }),
    disable: (sql, request, audit) => disableAccount(sql, audit, fieldOf(request, 'id')),
    promote: (sql, request, audit) =>
      setAdmin(sql, audit, { id: fieldOf(request, 'id'), isAdmin: true, cancelOnOthers }),
    demote: (sql, request, audit) =>
      setAdmin(sql, audit, { id: fieldOf(request, 'id'), isAdmin: false, cancelOnOthers }),
    end: (sql, request, audit) => {
      const id = fieldOf(request, 'id')
      const change = { id, action: 'account.sessions_end' } as const
      return changeAccount(sql, audit, change, () => endSessions(sql, id))
    },
  }
  for (const [name, act] of Object.entries(acts))
    router.post(`/people/${name}`, FORM, async (request, response) => {
      const admin = await readAdmin(request, response)
      if (!admin) return
      const target = fieldOf(request, 'id') || fieldOf(request, 'email')
      if (name !== 'invite' && target === admin.id)
        return send(response, 400, messagePage('Not on yourself', 'Another admin may do this.'))
      if (name !== 'invite' && (await withinDeadline(sql, listAccounts(sql, target))).length === 0)
        return send(response, 404, messagePage('No such account', 'Look for it among People.'))
      const audit = auditBy(admin.id, request, response)
      const shown = (await unitOfWork({ sql }, (sql) => act(sql, request, audit))) ?? {}
      const accounts = await withinDeadline(sql, listAccounts(sql))
      send(response, shown.issue === undefined ? 200 : 400, peoplePage({ accounts, ...shown }))
    })
}
