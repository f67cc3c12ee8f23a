import { isDeepStrictEqual } from 'node:util'

import { auditTarget } from '../../platform/domain/audit-log.ts'
import { PUBLISH_TOKEN_SECONDS } from '../domain/trusted-publisher.ts'
import type { Provenance, TrustedPublisher } from '../domain/trusted-publisher.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import { instant } from '../../platform/db/instant.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'

/** Each exchange looks at all of a node. Of nodes to come, a publisher has as many altogether. */
const MAX_TRUSTED = 20

const columns = (sql: Queryable) => sql`
  id, node_id, provider, issuer, claims, created_by, ${instant(sql, sql`created_at`)} as "createdAt"
`

/** A node of a publisher, as it is stored, or one to come. */
export interface NodePlace {
  publisherId: string
  nodeId: string
}

/**
 * The condition that a row is of a node or, with its id in small letters, was made before there was one. The trust of
 * another publisher than the node's has no effect: `transferNode` ends it before it could get one.
 */
export const isOfNode = (sql: Queryable, nodeId: string) =>
  sql`node_id in (${nodeId}, ${nodeId.toLowerCase()})`

/** Lists what a publisher trusts to publish a node, the oldest first. */
export const listTrustedPublishers = async (
  sql: Queryable,
  { publisherId, nodeId }: NodePlace,
): Promise<TrustedPublisher[]> =>
  await sql<TrustedPublisher[]>`
    select ${columns(sql)} from trusted_publisher
    where publisher_id = ${publisherId} and ${isOfNode(sql, nodeId)}
    order by created_at, id
  `

/** Lists what a publisher trusts to publish nodes that are not there yet, whoever may make them. */
export const listTrustToCome = async (
  sql: Queryable,
  publisherId: string,
): Promise<TrustedPublisher[]> =>
  await sql<TrustedPublisher[]>`
    select ${columns(sql)} from trusted_publisher t
    where publisher_id = ${publisherId}
      and not exists (select from node n where n.id_lower = lower(t.node_id))
    order by created_at, id
  `

type TrustRejection = 'exists' | 'too_many' | 'no_member' | 'other_publisher'

/**
 * Lets the jobs of somebody publish a node, or one to come. The publisher's lock makes sure that trust ends with the
 * membership, and that a node does not come to the publisher by a transfer meanwhile.
 */
export const insertTrustedPublisher = async (
  sql: Transaction,
  given: Omit<TrustedPublisher, 'id' | 'createdAt'> & { publisherId: string },
  audit: Audit,
): Promise<TrustedPublisher | TrustRejection> => {
  const { publisherId, provider, issuer, claims, created_by } = given
  await lockPublisher(sql, publisherId, 'update')
  const [member] = await sql`
    select from publisher_member where publisher_id = ${publisherId} and user_id = ${created_by}
  `
  if (!member) return 'no_member'
  const node = await lockNode(sql, given.node_id)
  if (node && node.publisherId !== publisherId) return 'other_publisher'
  const node_id = node?.id ?? given.node_id.toLowerCase()
  const existing = await listTrustedPublishers(sql, { publisherId, nodeId: node_id })
  const isSame = (one: TrustedPublisher) =>
    isDeepStrictEqual([one.provider, one.issuer, one.claims], [provider, issuer, claims])
  if (existing.some(isSame)) return 'exists'
  const counted = node ? existing : await listTrustToCome(sql, publisherId)
  if (counted.length >= MAX_TRUSTED) return 'too_many'
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
  { id, publisherId, nodeId }: NodePlace & { id: string },
  audit: Audit,
): Promise<boolean> => {
  const [trusted] = await sql<TrustedPublisher[]>`
    delete from trusted_publisher
    where id::text = ${id.toLowerCase()} and publisher_id = ${publisherId} and ${isOfNode(sql, nodeId)}
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
