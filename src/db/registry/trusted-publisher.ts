import type { Provenance } from '../../domain/registry/provenance.ts'
import type { TrustedPublisher } from '../../domain/registry/trusted-publisher.ts'
import type { Queryable, Transaction } from '../client.ts'
import { auditTarget } from '../../domain/registry/audit-log.ts'
import { insertAudit } from './audit-log.ts'
import type { Audit } from './audit-log.ts'
import { instant } from './registry-json.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'

/** Each exchange looks at all of a node. */
export const MOST_TRUSTED = 20

const columns = (sql: Queryable) => sql`
  id, node_id, provider, issuer, claims, created_by,
  ${instant(sql, sql`created_at`)} as "createdAt"
`

/** Those of a node, the oldest first. */
export const listTrustedPublishers = async (
  sql: Queryable,
  nodeId: string,
): Promise<TrustedPublisher[]> =>
  await sql<TrustedPublisher[]>`
    select ${columns(sql)} from trusted_publisher where node_id = ${nodeId} order by created_at, id
  `

export interface NewTrust extends Pick<
  TrustedPublisher,
  'node_id' | 'provider' | 'issuer' | 'claims' | 'created_by'
> {
  publisherId: string
}

type TrustInserted =
  | { result: 'created'; trusted: TrustedPublisher }
  | { result: 'exists' | 'too_many' | 'no_member' }

/** Lets the jobs of somebody publish a node. The publisher's lock makes sure that trust ends with the membership. */
export const insertTrustedPublisher = async (
  sql: Transaction,
  { publisherId, node_id, provider, issuer, claims, created_by }: NewTrust,
  audit: Audit,
): Promise<TrustInserted> => {
  await lockPublisher(sql, publisherId, 'share')
  const [member] = await sql`
    select from publisher_member where publisher_id = ${publisherId} and user_id = ${created_by}
  `
  if (!member) return { result: 'no_member' }
  await lockNode(sql, node_id)
  const held = await listTrustedPublishers(sql, node_id)
  if (held.length >= MOST_TRUSTED) return { result: 'too_many' }
  const [trusted] = await sql<TrustedPublisher[]>`
    insert into trusted_publisher (publisher_id, node_id, provider, issuer, claims, created_by)
    values (${publisherId}, ${node_id}, ${provider}, ${issuer}, ${sql.json(claims)}, ${created_by})
    on conflict do nothing
    returning ${columns(sql)}
  `
  if (!trusted) return { result: 'exists' }
  await note(sql, audit, { action: 'trusted_publisher.create', node_id, after: trusted })
  return { result: 'created', trusted }
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
  await sql`
    update personal_access_token set revoked_at = clock_timestamp()
    where trusted_publisher_id = ${trusted.id} and revoked_at is null
  `
  const before = trusted
  await note(sql, audit, { action: 'trusted_publisher.delete', node_id: nodeId, before })
  return true
}

const note = async (
  sql: Transaction,
  audit: Audit,
  {
    action,
    node_id,
    before = {},
    after = {},
  }: {
    action: 'trusted_publisher.create' | 'trusted_publisher.delete'
    node_id: string
    before?: object
    after?: object
  },
) => await insertAudit(sql, audit, { action, target: auditTarget.node(node_id), before, after })

interface ExchangedToken {
  trusted: TrustedPublisher
  publisherId: string
  /** Lower-case hex: of the new token, and of what makes the identity token one of its kind. */
  sha256: string
  identitySha256: string
  last4: string
  provenance: Provenance
}

/** As PyPI has it: time for a job to publish, and little for a thief. */
const TOKEN_MINUTES = 15

/**
 * Inserts the token that a CI job gets for its identity token. `used`: the identity token has been exchanged before.
 * `not_trusted`: the trust ended meanwhile.
 */
export const insertExchangedToken = async (
  sql: Transaction,
  { trusted, publisherId, sha256, identitySha256, last4, provenance }: ExchangedToken,
): Promise<{ result: 'exchanged'; expires_at: string } | { result: 'used' | 'not_trusted' }> => {
  await lockPublisher(sql, publisherId, 'share')
  const [trust] = await sql`select from trusted_publisher where id = ${trusted.id} for key share`
  if (!trust) return { result: 'not_trusted' }
  const [row] = await sql<{ expires_at: string }[]>`
    insert into personal_access_token
      (publisher_id, node_id, name, description, sha256, last4, created_by, expires_at,
        trusted_publisher_id, identity_sha256, provenance)
    values (${publisherId}, ${trusted.node_id}, ${`trusted publisher ${trusted.provider}`},
      ${provenance.run_url ?? provenance.issuer}, ${sha256}, ${last4}, ${trusted.created_by},
      clock_timestamp() + make_interval(mins => ${TOKEN_MINUTES}),
      ${trusted.id}, ${identitySha256}, ${sql.json({ ...provenance })})
    on conflict do nothing
    returning ${instant(sql, sql`expires_at`)} as expires_at
  `
  return row ? { result: 'exchanged', expires_at: row.expires_at } : { result: 'used' }
}
