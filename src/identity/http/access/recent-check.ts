import type { JWTPayload } from 'jose'

import { withinDeadline, type Sql } from '../../../platform/db/client.ts'
import { findLiveAccount } from '../../db/account.ts'
import { existsSession } from '../../db/session.ts'
import { makeRecent } from '../../../platform/domain/recent.ts'
import { KNOWN_MS } from '../../../platform/http/access/caller.ts'

const REMEMBERED = 10_000

const makeRecentCheck = () => {
  const recent = makeRecent<{ is: boolean; at: number }>(REMEMBERED)
  return async (key: string, find: () => Promise<boolean>): Promise<boolean> => {
    const [last, at] = [recent.find(key), performance.now()]
    if (last && at - last.at < KNOWN_MS) return last.is
    const is = await find()
    recent.keep(key, { is, at })
    return is
  }
}

/** Makes the check that the session which a token of AUTH=builtin was given in has not ended. */
export const makeIsSessionLive = ({ sql }: { sql: Sql }) => {
  const check = makeRecentCheck()
  return ({ sid, sub = '' }: JWTPayload): Promise<boolean> => {
    const session = { uid: String(sid), accountId: sub }
    return check(`${session.uid} ${sub}`, () => withinDeadline(sql, existsSession(sql, session)))
  }
}

/** Makes the check that an account of AUTH=builtin is one of a platform admin. */
export const makeIsAdminAccount = ({ sql }: { sql: Sql }) => {
  const check = makeRecentCheck()
  const isAdmin = async (id: string) =>
    (await withinDeadline(sql, findLiveAccount(sql, id)))?.isAdmin === true
  return (id: string): Promise<boolean> => check(id, () => isAdmin(id))
}
