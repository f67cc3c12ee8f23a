import type { Queryable } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'

export interface ListedSession {
  /** SHA-256 of the session's id. */
  id: string
  userAgent: string | null
  created_at: string
  expires_at: string
}

/** Lists the sessions of an account, newest first. */
export const listSessions = async (sql: Queryable, accountId: string): Promise<ListedSession[]> =>
  await sql`
  select id, user_agent as "userAgent", ${instant(sql, sql`created_at`)} as created_at,
    ${instant(sql, sql`expires_at`)} as expires_at
  from sign_in_record
  where account_id = ${accountId} and model = 'Session' and expires_at > now()
  order by created_at desc
`

/** True while an account has the session with this digest of its uid. */
export const existsSession = async (
  sql: Queryable,
  { uid, accountId }: { uid: string; accountId: string },
): Promise<boolean> => {
  const [row] = await sql`
    select from sign_in_record
    where uid = ${uid} and account_id = ${accountId} and model = 'Session' and expires_at > now()
  `
  return row !== undefined
}

/** Ends one session of an account. Its refresh tokens end with it, because they are bound to it. */
export const endSession = async (
  sql: Queryable,
  { accountId, id }: { accountId: string; id: string },
): Promise<void> => {
  await sql`
    delete from sign_in_record
    where account_id = ${accountId} and model = 'Session' and id = ${id}
  `
}

/** Ends the session with this digest of its uid, and with it the tokens that were given in it. */
export const endSessionOf = async (sql: Queryable, uid: string): Promise<void> => {
  await sql`delete from sign_in_record where uid = ${uid} and model = 'Session'`
}

/** Ends all that an account is signed in by, but the session `spared`. */
export const endSessions = async (
  sql: Queryable,
  accountId: string,
  spared = '',
): Promise<void> => {
  await sql`
    delete from sign_in_record
    where account_id = ${accountId} and model = 'Session' and id <> ${spared}
  `
}
