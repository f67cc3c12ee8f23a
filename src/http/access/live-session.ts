import type { JWTPayload } from 'jose'

import { withinDeadline, type Sql } from '../../db/client.ts'
import { existsSession } from '../../db/sign-in/record.ts'
import { makeRecent } from '../../domain/shared/recent.ts'

/** A page asks several times a second; an ended session is found out within this time. */
const KNOWN_MS = 5000
const REMEMBERED = 10_000

/** Makes the check that the session which a token of AUTH=builtin was given in has not ended. */
export const makeIsSessionLive = ({ sql }: { sql: Sql }) => {
  const recent = makeRecent<number>(REMEMBERED)
  return async ({ sid, sub = '' }: JWTPayload): Promise<boolean> => {
    const key = `${String(sid)} ${sub}`
    const last = recent.find(key)
    if (last !== undefined && performance.now() - last < KNOWN_MS) return true
    const session = { uid: String(sid), accountId: sub }
    const isLive = await withinDeadline(sql, existsSession(sql, session))
    if (isLive) recent.keep(key, performance.now())
    return isLive
  }
}
