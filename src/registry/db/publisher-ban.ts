import { auditTarget } from '../../platform/domain/audit-log.ts'
import { PUBLISHER_TRANSITIONS } from '../domain/node-transition.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import type { Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'

interface PublisherTransition {
  id: string
  name: keyof typeof PUBLISHER_TRANSITIONS
  /** Reason of the ban; kept while it lasts, and shown to the members. */
  reason: string | undefined
  audit: Audit
}

/**
 * Bans a publisher or lifts the ban; a repeat changes nothing. Its nodes and versions keep their statuses and are hidden
 * through it, so that lifting restores exactly what was. The caller knows that it exists.
 */
export const transitionPublisher = async (
  sql: Transaction,
  { id, name, reason, audit }: PublisherTransition,
): Promise<boolean> => {
  const { from, to } = PUBLISHER_TRANSITIONS[name]
  const isBan = name === 'ban'
  // Trigger `publisher_changed` (0032): is a change of the nodes, too, for clients that keep a copy of the lists.
  const [isTransitioned] = await sql<{ id: string; from: string; was: string | null }[]>`
    update publisher p
    set status = ${to}, status_reason = ${isBan ? (reason ?? null) : null}, rev = p.rev + 1
    from (select id, status, status_reason from publisher where id = lower(${id}::text)
      for no key update) old
    where p.id = old.id and p.status = any(${[...from]})
    returning p.id, old.status as from, old.status_reason as was
  `
  if (!isTransitioned) return false
  const change = await listNodesOf(sql, isTransitioned.id, !isBan)
  await insertAudit(sql, audit, {
    action: `publisher.${name}`,
    target: auditTarget.publisher(isTransitioned.id),
    before: { status: isTransitioned.from, reason: isTransitioned.was },
    after: { status: to, reason: isBan ? (reason ?? null) : null },
    reason,
  })
  await recordListChange(sql, change)
  return true
}

/** Lists the active nodes of a publisher, or hides all of them. Returns by how much the counts change. */
const listNodesOf = async (sql: Transaction, publisherId: string, listed: boolean) => {
  await sql`
    select from node where publisher_id = ${publisherId} order by id for no key update
  `
  // Trigger `node_stats_listed` (0014): records the changes for counts of searches.
  const [change] = await sql<{ nodes: number; versions: number }[]>`
    with changed as (
      update node_stats s
      set listed = ${listed}
      from node n
      where n.publisher_id = ${publisherId} and n.status = 'NodeStatusActive'
        and s.node_id = n.id and s.listed <> ${listed}
      returning s.node_id
    )
    select count(distinct c.node_id)::integer as nodes, count(v.id)::integer as versions
    from changed c
    left join version v on v.node_id = c.node_id and v.status <> 'NodeVersionStatusDeleted'
  `
  const { nodes = 0, versions = 0 } = change ?? {}
  return listed ? { nodes, versions } : { nodes: -nodes, versions: -versions }
}
