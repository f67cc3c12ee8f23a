import { isDeepStrictEqual } from 'node:util'

import { auditTarget } from '../../platform/domain/audit-log.ts'
import { PUBLISH_TOKEN_SECONDS } from '../domain/trusted-publisher.ts'
import type { Provenance, TrustedPublisher } from '../domain/trusted-publisher.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import { instant } from '../../platform/db/instant.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'

/** Each exchange looks at all of a node. */
const MAX_TRUSTED = 20

const columns = (sql: Queryable) => sql`
  id, node_id, provider, issuer, claims, created_by, ${instant(sql, sql`created_at`)} as "createdAt"
`

/** Lists the trusted publishers of a node, the oldest first. */
export const listTrustedPublishers = async (
  sql: Queryable,
  nodeId: string,
): Promise<TrustedPublisher[]> =>
  await sql<TrustedPublisher[]>`
    select ${columns(sql)} from trusted_publisher where node_id = ${nodeId} order by created_at, id
  `

/** Lets the jobs of somebody publish a node. The publisher's lock makes sure that trust ends with the membership. */
export const insertTrustedPublisher = async (
  sql: Transaction,
  given: Omit<TrustedPublisher, 'id' | 'createdAt'> & { publisherId: string },
  audit: Audit,
): Promise<TrustedPublisher | 'exists' | 'too_many' | 'no_member'> => {
  const { publisherId, node_id, provider, issuer, claims, created_by } = given
  await lockPublisher(sql, publisherId, 'share')
  const [member] = await sql`
    select from publisher_member where publisher_id = ${publisherId} and user_id = ${created_by}
  `
  if (!member) return 'no_member'
  await lockNode(sql, node_id)
  const existing = await listTrustedPublishers(sql, node_id)
  const isSame = (one: TrustedPublisher) =>
    isDeepStrictEqual([one.provider, one.issuer, one.claims], [provider, issuer, claims])
  if (existing.some(isSame)) return 'exists'
  if (existing.length >= MAX_TRUSTED) return 'too_many'
  const [trusted] = await sql<TrustedPublisher[]>`
    insert into trusted_publisher (publisher_id, node_id, provider, issuer, claims, created_by)
    values (${publisherId}, ${node_id}, ${provider}, ${issuer}, ${sql.json(claims)}, ${created_by})
    returning ${columns(sql)}
  `
  if (!trusted) throw new Error('a trust that is not there')
  const target = auditTarget.node(node_id)
  const action = 'trusted_publisher.create'
  await insertAudit(sql, audit, { action, target, before: {}, after: trusted })
  return trusted
}

/** Ends a trust, and with it the tokens that its jobs hold; false when the node has none with that id. */
export const deleteTrustedPublisher = async (
  sql: Transaction,
  { id, nodeId }: { id: string; nodeId: string },
  audit: Audit,
): Promise<boolean> => {
  const [trusted] = await sql<TrustedPublisher[]>`
    delete from trusted_publisher where id::text = ${id.toLowerCase()} and node_id = ${nodeId}
    returning ${columns(sql)}
  `
  if (!trusted) return false
  // Trigger `token_revoked_event` (0069): records an event for each.
  await sql`
    update personal_access_token set revoked_at = clock_timestamp()
    where trusted_publisher_id = ${trusted.id} and revoked_at is null
  `
  const target = auditTarget.node(nodeId)
  const action = 'trusted_publisher.delete'
  await insertAudit(sql, audit, { action, target, before: trusted, after: {} })
  return true
}

interface ExchangedToken {
  trusted: TrustedPublisher
  publisherId: string
  /** Lower-case hex: of the new token, and of what makes the identity token one of its kind. */
  sha256: string
  identitySha256: string
  last4: string
  provenance: Provenance
}

/**
 * Inserts the token that a CI job gets for its identity token, and returns when it ends. `used`: the identity token has
 * been exchanged before. `not_trusted`: the trust ended meanwhile.
 */
export const insertExchangedToken = async (
  sql: Transaction,
  { trusted, publisherId, sha256, identitySha256, last4, provenance }: ExchangedToken,
): Promise<{ expires_at: string } | 'used' | 'not_trusted'> => {
  await lockPublisher(sql, publisherId, 'share')
  const [trust] = await sql`select from trusted_publisher where id = ${trusted.id} for key share`
  if (!trust) return 'not_trusted'
  // Trigger `token_created_event` (0069): records an event for the publisher's endpoints.
  const [row] = await sql<{ expires_at: string }[]>`
    insert into personal_access_token
      (publisher_id, node_id, name, description, sha256, last4, created_by, expires_at,
        trusted_publisher_id, identity_sha256, provenance)
    values (${publisherId}, ${trusted.node_id}, ${`trusted publisher ${trusted.provider}`},
      ${provenance.run_url ?? provenance.issuer}, ${sha256}, ${last4}, ${trusted.created_by},
      clock_timestamp() + make_interval(secs => ${PUBLISH_TOKEN_SECONDS}), ${trusted.id}, ${identitySha256},
      ${sql.json({ ...provenance })})
    on conflict do nothing
    returning ${instant(sql, sql`expires_at`)} as expires_at
  `
  return row ?? 'used'
}
