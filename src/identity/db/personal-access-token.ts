import type { TokenScope } from '../domain/personal-access-token.ts'
import type { Queryable } from '../../platform/db/client.ts'
import { isLive, isTouchDue } from './api-key.ts'

export interface LiveToken {
  id: string
  /** Id of the user who created it; the token stands for this user. */
  createdBy: string
  publisherId: string
  scope: TokenScope
  /** Null: every node of the publisher. */
  nodeId: string | null
  /** A CI job got it for its identity token. */
  isExchanged: boolean
  /** True when `touchPersonalAccessToken` would change `last_used_at`. */
  touchDue: boolean
}

/**
 * Finds a live token by the digest of its text, of any publisher unless one is named. Undefined for every other token:
 * unknown, expired, revoked, or another publisher's.
 */
export const findPersonalAccessToken = async (
  sql: Queryable,
  { sha256, publisherId }: { sha256: string; publisherId?: string },
): Promise<LiveToken | undefined> => {
  const [row] = await sql<LiveToken[]>`
    select id, created_by as "createdBy", publisher_id as "publisherId", scope,
      node_id as "nodeId", trusted_publisher_id is not null as "isExchanged",
      ${isTouchDue(sql)} as "touchDue"
    from personal_access_token
    where sha256 = ${sha256} and ${isLive(sql)}
      and publisher_id = coalesce(lower(${publisherId ?? null}::text), publisher_id)
  `
  return row
}

/**
 * Moves `last_used_at` at the first use, then at most hourly. A locked row is skipped, so that many first uses at once do
 * not queue for it.
 */
export const touchPersonalAccessToken = async (sql: Queryable, id: string): Promise<void> => {
  await sql`
    update personal_access_token set last_used_at = clock_timestamp()
    where id in (
      select id from personal_access_token where id = ${id} and ${isTouchDue(sql)}
      for no key update skip locked
    )
  `
}
