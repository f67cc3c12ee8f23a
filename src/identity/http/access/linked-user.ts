import { withinDeadline, type Sql } from '../../../platform/db/client.ts'
import { findLinkedUser } from '../../db/account.ts'
import { makeRecent } from '../../../platform/domain/recent.ts'

const MINUTE_MS = 60_000
const REMEMBERED = 10_000

/**
 * Makes the look-up of the user that an operator has linked to a subject of the issuer. Without a link the subject is
 * the user. Cached for a minute.
 */
export const makeLinkedUser = ({ sql }: { sql: Sql }) => {
  const recent = makeRecent<{ user: string; at: number }>(REMEMBERED)
  return async (subject: string): Promise<string> => {
    const last = recent.find(subject)
    if (last && performance.now() - last.at < MINUTE_MS) return last.user
    const user = (await withinDeadline(sql, findLinkedUser(sql, subject))) ?? subject
    recent.keep(subject, { user, at: performance.now() })
    return user
  }
}
