import type { HostNodePolicy } from '../../domain/registry/host-node.ts'
import type { Queryable, Transaction } from '../client.ts'

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

/** Sets policies by name, which stay with the name when the host nodes are replaced. */
export const putHostNodePolicies = async (
  sql: Transaction,
  versionId: string,
  policies: Readonly<Record<string, HostNodePolicy>>,
): Promise<void> => {
  await sql`
    insert into host_node_policy (version_id, host_node_name, policy)
    select ${versionId}::uuid, name, policy
    from unnest(${Object.keys(policies)}::text[], ${Object.values(policies)}::text[])
      as given (name, policy)
    on conflict (version_id, host_node_name) do update set policy = excluded.policy
  `
}

/** The policy of `host_node h`, if one was set. */
export const joinPolicy = (sql: Queryable) => sql`
  left join host_node_policy y
    on y.version_id = h.version_id and y.host_node_name = h.host_node_name
`

export const policyOf = (sql: Queryable) => sql`coalesce(y.policy, 'HostNodePolicyActive')`
