import { auditTarget } from '../../platform/domain/audit-log.ts'
import type { Transfer } from '../domain/transfer.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { instant } from '../../platform/db/instant.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import { lockNode, lockPublisher } from './registry-lock.ts'
import { isOfNode } from './trusted-publisher.ts'

/** Days until an offer ends. */
const OFFER_DAYS = 14

const transferJson = (sql: Queryable) => sql`
  json_build_object('id', t.id, 'node_id', t.node_id, 'from', t.from_publisher, 'to', t.to_publisher,
    'asked_by', t.asked_by, 'asked_at', ${instant(sql, sql`t.asked_at`)},
    'expires_at', ${instant(sql, sql`t.expires_at`)})
`

const isOpen = (sql: Queryable) => sql`(t.ended_at is null and t.expires_at > clock_timestamp())`

/** Offers a node of a publisher to another one, in place of an offer that is there. Undefined where it is not its node. */
export const offerNode = async (
  sql: Transaction,
  given: { nodeId: string; from: string; to: string; by: string },
): Promise<Transfer | undefined> => {
  const node = await lockNode(sql, given.nodeId)
  if (node?.publisherId !== given.from || node.status !== 'NodeStatusActive') return undefined
  await endOffers(sql, { nodeId: node.id, by: given.by, accepted: false })
  const [row] = await sql<{ transfer: Transfer }[]>`
    insert into node_transfer as t (node_id, from_publisher, to_publisher, asked_by, expires_at)
    values (${node.id}, ${given.from}, ${given.to}, ${given.by},
      clock_timestamp() + make_interval(days => ${OFFER_DAYS}))
    returning ${transferJson(sql)} as transfer
  `
  return row?.transfer
}

const endOffers = async (
  sql: Transaction,
  { nodeId, by, accepted }: { nodeId: string; by: string; accepted: boolean },
): Promise<void> => {
  await sql`
    update node_transfer set ended_at = clock_timestamp(), ended_by = ${by}, accepted = ${accepted}
    where node_id = ${nodeId} and ended_at is null
  `
}

/** Lists the open offers of and to a publisher. */
export const listTransfers = async (sql: Queryable, publisherId: string): Promise<Transfer[]> => {
  const rows = await sql<{ transfer: Transfer }[]>`
    select ${transferJson(sql)} as transfer from node_transfer t
    where ${publisherId} in (t.from_publisher, t.to_publisher) and ${isOpen(sql)}
    order by t.asked_at, t.id
  `
  return rows.map(({ transfer }) => transfer)
}

interface OfTransfer {
  id: string
  /** One of the two. */
  publisherId: string
}

/** Finds an open offer of or to a publisher. */
export const findTransfer = async (
  sql: Queryable,
  { id, publisherId }: OfTransfer,
): Promise<Transfer | undefined> => {
  const [row] = await sql<{ transfer: Transfer }[]>`
    select ${transferJson(sql)} as transfer from node_transfer t
    where t.id = ${id} and ${publisherId} in (t.from_publisher, t.to_publisher) and ${isOpen(sql)}
  `
  return row?.transfer
}

/** Ends an offer for either side; false when it is not open. */
export const withdrawTransfer = async (
  sql: Transaction,
  { id, by }: { id: string; by: string },
): Promise<boolean> => {
  const { count } = await sql`
    update node_transfer t set ended_at = clock_timestamp(), ended_by = ${by}, accepted = false
    where id = ${id} and ${isOpen(sql)}
  `
  return count === 1
}

interface Move {
  nodeId: string
  to: string
  /** The offer that is accepted; absent: a platform admin needs none. */
  transferId?: string
  audit: Audit
  reason?: string | undefined
}

type Moved =
  | 'moved'
  | 'node_not_found'
  | 'publisher_not_found'
  | 'publisher_banned'
  | 'transfer_not_found'

/**
 * Gives a node to another publisher. What could publish it until now ends: tokens for the node alone, trust in CI jobs,
 * and, because their makers are no members, links to upload. Its archives are found at their old addresses, too.
 */
export const transferNode = async (
  sql: Transaction,
  { nodeId, to, transferId, audit, reason }: Move,
): Promise<Moved> => {
  const [found] = await sql<{ from: string }[]>`
    select publisher_id as from from node where id_lower = lower(${nodeId}::text)
  `
  if (!found) return 'node_not_found'
  const ids = [found.from, to.toLowerCase()].toSorted((a, b) => (a < b ? -1 : 1))
  const publishers = []
  for (const id of ids) publishers.push(await lockPublisher(sql, id, 'share'))
  const target = publishers.find((publisher) => publisher?.id === to.toLowerCase())
  if (!target) return 'publisher_not_found'
  if (publishers.some((publisher) => publisher?.status === 'PublisherStatusBanned'))
    return 'publisher_banned'
  const node = await lockNode(sql, nodeId)
  // Somebody else has moved it meanwhile.
  if (node?.publisherId !== found.from || node.status !== 'NodeStatusActive')
    return 'node_not_found'
  if (transferId !== undefined) {
    const [offer] = await sql`
      select from node_transfer t
      where t.id = ${transferId} and t.node_id = ${node.id} and t.to_publisher = ${target.id}
        and ${isOpen(sql)}
      for no key update
    `
    if (!offer) return 'transfer_not_found'
  } else
    await sql`
      insert into node_transfer (node_id, from_publisher, to_publisher, asked_by, expires_at)
      values (${node.id}, ${found.from}, ${target.id}, ${audit.actor}, clock_timestamp())
      on conflict (node_id) where ended_at is null do update
      set to_publisher = excluded.to_publisher, asked_by = excluded.asked_by
    `
  await endOffers(sql, { nodeId: node.id, by: audit.actor, accepted: true })
  // Trigger `node_words_set` (0088): has searches find it by its new publisher.
  await sql`
    update node set publisher_id = ${target.id}, rev = rev + 1,
      updated_at = greatest(clock_timestamp(), updated_at)
    where id = ${node.id}
  `
  await sql`delete from trusted_publisher where ${isOfNode(sql, node.id)}`
  // Trigger `token_revoked_event` (0069): records an event for the publisher's endpoints.
  await sql`
    update personal_access_token set revoked_at = clock_timestamp()
    where ${isOfNode(sql, node.id)} and revoked_at is null
  `
  await insertAudit(sql, audit, {
    action: 'node.transfer',
    target: auditTarget.node(node.id),
    before: { publisher: found.from },
    after: { publisher: target.id },
    reason,
  })
  await recordListChange(sql)
  return 'moved'
}

/** True when a node was a publisher's before. */
export const wasOfPublisher = async (
  sql: Queryable,
  { nodeId, publisherId }: { nodeId: string; publisherId: string },
): Promise<boolean> => {
  const [row] = await sql`
    select from node_transfer
    where node_id = ${nodeId} and from_publisher = lower(${publisherId}::text) and accepted
    limit 1
  `
  return row !== undefined
}
