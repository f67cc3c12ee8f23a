import type { JWTPayload } from 'jose'

import { withinDeadline, type Sql } from '../../db/client.ts'
import { findLiveAccount } from '../../db/sign-in/account.ts'
import { existsSession } from '../../db/sign-in/record.ts'
import { makeRecent } from '../../domain/shared/recent.ts'

/**
 * Time for which what was found counts, because a page asks several times a second. A stream asks again as often, so
 * both together are the five seconds within which what was taken away is found out.
 */
export const KNOWN_MS = 2500
const REMEMBERED = 10_000

interface Check<Input> {
  keyOf(input: Input): string
  find(input: Input): Promise<boolean>
}

const makeRecentCheck = <Input>({ keyOf, find }: Check<Input>) => {
  const recent = makeRecent<{ is: boolean; at: number }>(REMEMBERED)
  return async (input: Input): Promise<boolean> => {
    const [key, at] = [keyOf(input), performance.now()]
    const last = recent.find(key)
    if (last && at - last.at < KNOWN_MS) return last.is
    const is = await find(input)
    recent.keep(key, { is, at })
    return is
  }
}

/** Makes the check that the session which a token of AUTH=builtin was given in has not ended. */
export const makeIsSessionLive = ({ sql }: { sql: Sql }) =>
  makeRecentCheck<JWTPayload>({
    keyOf: ({ sid, sub }) => `${String(sid)} ${sub}`,
    find: ({ sid, sub = '' }) =>
      withinDeadline(sql, existsSession(sql, { uid: String(sid), accountId: sub })),
  })

/** Makes the check that an account of AUTH=builtin is one of a platform admin. */
export const makeIsAdminAccount = ({ sql }: { sql: Sql }) =>
  makeRecentCheck<string>({
    keyOf: (id) => id,
    find: async (id) => (await withinDeadline(sql, findLiveAccount(sql, id)))?.isAdmin === true,
  })
