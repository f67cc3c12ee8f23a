import { maskCredential } from '../../platform/domain/credential.ts'
import type {
  PersonalAccessToken,
  TokenScope,
} from '../../identity/domain/personal-access-token.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { isLive } from '../../identity/db/api-key.ts'
import { lockPublisher } from './registry-lock.ts'

export interface NewPersonalAccessTokenRow {
  publisherId: string
  /** A member of the publisher. */
  userId: string
  name: string
  description: string | undefined
  /** Lower-case hex of the token; the token itself is never stored. */
  sha256: string
  last4: string
  expires_at: Date | undefined
  scope: TokenScope
  /** As it is stored; undefined: every node of the publisher. */
  nodeId: string | undefined
}

/**
 * Inserts a token and returns its id. `expired`: by the database's clock it has ended already. `no_member`: its creator
 * was removed meanwhile. The publisher's lock makes sure that tokens end with the membership.
 */
export const insertPersonalAccessToken = async (
  sql: Transaction,
  token: NewPersonalAccessTokenRow,
): Promise<{ result: 'created'; id: string } | { result: 'expired' } | { result: 'no_member' }> => {
  const publisher = await lockPublisher(sql, token.publisherId, 'share')
  const [member] = await sql`
    select from publisher_member
    where publisher_id = ${publisher?.id ?? null}::text and user_id = ${token.userId}
  `
  if (!publisher || !member) return { result: 'no_member' }
  // Trigger `token_created_event` (0069): records an event for the publisher's endpoints.
  const [row] = await sql<{ id: string }[]>`
    insert into personal_access_token
      (publisher_id, name, description, sha256, last4, created_by, scope, node_id, expires_at)
    select ${publisher.id}, ${token.name}, nullif(${token.description ?? null}::text, ''),
      ${token.sha256}, ${token.last4}, ${token.userId}, ${token.scope}, ${token.nodeId ?? null},
      expires_at
    from (select ${token.expires_at ?? null}::timestamptz as expires_at) given
    where expires_at is null or expires_at > clock_timestamp()
    returning id
  `
  return row ? { result: 'created', id: row.id } : { result: 'expired' }
}

/** The live tokens of a publisher, newest first. */
export const listPersonalAccessTokens = async (
  sql: Queryable,
  publisherId: string,
): Promise<PersonalAccessToken[]> => {
  const rows = await sql<Row[]>`
    select id, name, description, last4, scope, node_id, created_at as "createdAt", created_by,
      expires_at, last_used_at
    from personal_access_token
    where publisher_id = lower(${publisherId}::text) and ${isLive(sql)}
    order by created_at desc, id desc
  `
  return rows.map(toToken)
}

/** Ends a live token of a publisher; false when there is none with that id. */
export const revokePersonalAccessToken = async (
  sql: Queryable,
  { id, publisherId }: { id: string; publisherId: string },
): Promise<boolean> => {
  // Trigger `token_revoked_event` (0069): records an event for the publisher's endpoints.
  const { count } = await sql`
    update personal_access_token set revoked_at = clock_timestamp()
    where id::text = ${id.toLowerCase()} and publisher_id = lower(${publisherId}::text)
      and ${isLive(sql)}
  `
  return count === 1
}

interface Row {
  id: string
  name: string
  description: string | null
  last4: string
  scope: TokenScope
  node_id: string | null
  createdAt: Date
  created_by: string
  expires_at: Date | null
  last_used_at: Date | null
}

const toToken = ({
  last4,
  createdAt,
  description,
  node_id,
  expires_at,
  last_used_at,
  ...row
}: Row) => ({
  ...row,
  token: maskCredential('personal_access_token', last4),
  createdAt: createdAt.toISOString(),
  ...(description !== null && { description }),
  ...(node_id !== null && { node_id }),
  ...(expires_at && { expires_at: expires_at.toISOString() }),
  ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
})
