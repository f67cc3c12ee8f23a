import { auditTarget } from '../../platform/domain/audit-log.ts'
import type { HostNodePolicy, HostNodePolicyUpdate, NodeHostPolicy } from '../domain/host-node.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { insertAudit } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'
import { lockNode } from './registry-lock.ts'
import { updateCurrentHostNodes } from './version-transition.ts'

/** The policies of a version's host nodes that have one of these names, by name. */
export const findHostNodePolicies = async (
  sql: Queryable,
  versionId: string,
  names: readonly string[],
): Promise<Map<string, HostNodePolicy>> => {
  const rows = await sql<{ name: string; policy: HostNodePolicy }[]>`
    select h.host_node_name as name, ${policyOf(sql)} as policy
    from host_node h ${joinPolicy(sql)}
    where h.version_id = ${versionId} and h.host_node_name = any(${[...names]})
  `
  return new Map(rows.map(({ name, policy }) => [name, policy]))
}

interface PoliciesPut {
  nodeId: string
  policies: Readonly<Record<string, HostNodePolicy>>
  /** Absent: the one that is stored stays with the same policy, and goes with another. */
  reason?: string | undefined
}

/**
 * Sets policies by name for all versions of a node, past and to come. The caller holds the node's row. Searches and
 * look-ups by name leave out what is banned, and copies of the lists learn that node and versions have changed. Trigger
 * `host_node_policy_kept` (0029) writes the same rows for apis of the release before.
 */
export const putHostNodePolicies = async (
  sql: Transaction,
  { nodeId, policies, reason }: PoliciesPut,
): Promise<void> => {
  const changed = await sql<{ name: string }[]>`
    insert into node_host_policy as y (node_id, host_node_name, policy, reason)
    select ${nodeId}, name, policy, ${reason ?? null}::text
    from unnest(${Object.keys(policies)}::text[], ${Object.values(policies)}::text[])
      as given (name, policy)
    on conflict (node_id, host_node_name) do update
    set policy = excluded.policy,
      reason = coalesce(excluded.reason, case when y.policy = excluded.policy then y.reason end),
      previous_policy = case when y.policy = excluded.policy then y.previous_policy else y.policy end,
      changed_at = case when y.policy = excluded.policy then y.changed_at else excluded.changed_at end
    where y.policy <> excluded.policy or y.reason is distinct from coalesce(excluded.reason, y.reason)
    returning host_node_name as name
  `
  if (changed.length === 0) return
  await updateCurrentHostNodes(sql, nodeId)
  // With another revision, so that a cached comparison of versions ends.
  await sql`
    update node set updated_at = greatest(clock_timestamp(), updated_at), rev = rev + 1
    where id = ${nodeId}
  `
  // Copies of the lists read the host nodes of versions that have changed.
  await sql`
    update version v set host_nodes_at = clock_timestamp(), rev = v.rev + 1
    where v.node_id = ${nodeId} and v.status <> 'NodeVersionStatusDeleted' and exists (
      select from host_node h
      where h.version_id = v.id and h.host_node_name = any(${changed.map(({ name }) => name)}))
  `
}

interface PolicyEdit {
  nodeId: string
  name: string
  fields: HostNodePolicyUpdate
  audit: Audit
}

/** Sets the policy of one host node name, with its audit entry; a repeat changes nothing. Undefined without the node. */
export const updateHostNodePolicy = async (
  sql: Transaction,
  { nodeId: id, name, fields, audit }: PolicyEdit,
): Promise<NodeHostPolicy | undefined> => {
  const node = await lockNode(sql, id)
  if (!node) return undefined
  const { policy, reason } = fields
  const before = await getPolicy(sql, node.id, name)
  await putHostNodePolicies(sql, { nodeId: node.id, policies: { [name]: policy }, reason })
  const after = await getPolicy(sql, node.id, name)
  if (before.policy !== after.policy || before.policy_reason !== after.policy_reason)
    await insertAudit(sql, audit, {
      action: 'host_node.update',
      target: auditTarget.node(node.id),
      before,
      after,
      reason,
    })
  await recordListChange(sql)
  return { node_id: node.id, ...after }
}

/** Most of the other nodes that a response names. */
const OTHERS = 100

const getPolicy = async (
  sql: Transaction,
  nodeId: string,
  name: string,
): Promise<Omit<NodeHostPolicy, 'node_id'>> => {
  const [row] = await sql<{ policy: Omit<NodeHostPolicy, 'node_id'> }[]>`
    select json_strip_nulls(json_build_object('host_node_name', ${name}::text,
      'policy', ${policyOf(sql)}, 'policy_reason', y.reason, 'versions', (
        select count(*) from version v join host_node h on h.version_id = v.id
        where v.node_id = ${nodeId} and h.host_node_name = ${name}
          and v.status <> 'NodeVersionStatusDeleted'),
      'other_node_ids', array(
        select node_id from current_host_node
        where name = ${name} and node_id <> ${nodeId} order by node_id limit ${OTHERS}))) as policy
    from (select) given
    left join node_host_policy y on y.node_id = ${nodeId} and y.host_node_name = ${name}
  `
  if (!row) throw new Error('a left join without a row')
  return row.policy
}

/** Joins the policy of `host_node h`, if one was set. */
export const joinPolicy = (sql: Queryable) => sql`
  join version of_policy on of_policy.id = h.version_id
  left join node_host_policy y
    on y.node_id = of_policy.node_id and y.host_node_name = h.host_node_name
`

export const policyOf = (sql: Queryable) => sql`coalesce(y.policy, 'HostNodePolicyActive')`
