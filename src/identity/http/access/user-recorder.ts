import { ensureUser, upsertUser } from '../../db/app-user.ts'
import { withinDeadline, type Queryable, type Sql } from '../../../platform/db/client.ts'
import { makeRecent } from '../../../platform/domain/recent.ts'
import type { Caller } from '../../../platform/http/access/caller.ts'

export interface UserRecorder {
  /** Writes who has signed in, when that is new or an hour old. Throws 503. */
  record(caller: Caller): Promise<void>
}

const HOUR_MS = 3_600_000
/** Most users that a process remembers. A forgotten one costs a statement that changes nothing. */
const REMEMBERED = 10_000

/** Makes the keeper of the users' rows. Members and their names are found by these rows. */
export const makeUserRecorder = ({
  sql,
  clock = () => performance.now(),
}: {
  sql: Sql
  /** Monotonic milliseconds. */
  clock?: () => number
}): UserRecorder => {
  const recorded = makeRecent<{ said: string; at: number }>(REMEMBERED)
  return {
    record: async (caller) => {
      const said = JSON.stringify([caller.scheme, caller.profile])
      const last = recorded.find(caller.principal)
      if (last?.said === said && clock() - last.at < HOUR_MS) return
      await withinDeadline(sql, writeUser(sql, caller))
      recorded.keep(caller.principal, { said, at: clock() })
    },
  }
}

/** Writes the user. A token describes its user; an API key shows only that there is one. */
export const writeUser = (
  sql: Queryable,
  { principal: id, scheme, profile = {} }: Caller,
): Promise<void> =>
  scheme === 'api_key' ? ensureUser(sql, id) : upsertUser(sql, { name: id, ...profile, id })
