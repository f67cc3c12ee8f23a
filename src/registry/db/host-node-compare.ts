import type { LoneHostNode } from '../domain/comparison/compare.ts'
import type { HostNodeText } from '../domain/comparison/host-node-form.ts'
import type { Fragment, Queryable } from '../../platform/db/client.ts'
import { joinPolicy, policyOf } from './host-node-policy.ts'

interface Versions {
  from: string
  to: string
}

/** A host node that two versions do not have in common; its bytes count both texts. */
export type Difference = (LoneHostNode | { side: 'changed'; name: string }) & { bytes: number }

/** Which host nodes differ. What they hold stays in the database, where equal ones are left out at once. */
export const listDifferences = async (
  sql: Queryable,
  { from, to }: Versions,
): Promise<Difference[]> =>
  await sql<Difference[]>`
    select coalesce(a.name, b.name) as name, coalesce(a.print, b.print) as print,
      case when a.name is null then 'added' when b.name is null then 'removed' else 'changed' end as side,
      'host_node_name' = any(a.dynamic) as "isConditional",
      coalesce(a.bytes, 0) + coalesce(b.bytes, 0) as bytes
    from (${printsOf(sql, from, policyBefore(sql, { from, to }))}) a
    full join (${printsOf(sql, to, policyOf(sql))}) b on b.name = a.name
    where (a.print, a.shown) is distinct from (b.print, b.shown)
  `

/** Workflows were saved under the policy that a host node had when their version was published, or under a later one. */
const policyBefore = (sql: Queryable, { from, to }: Versions) => sql`
  case when y.changed_at > of_policy.created_at and ${from}::uuid <> ${to}::uuid
    then y.previous_policy else ${policyOf(sql)} end
`

const printsOf = (sql: Queryable, versionId: string, policy: Fragment) => sql`
  select h.host_node_name as name, h.dynamic,
    md5(concat_ws(',', h.input_types, h.return_types, h.return_names, h.output_is_list::text)) as print,
    (h.display_name, h.category, h.description, h.deprecated, h.experimental, h.output_node, h.dynamic,
      ${policy}) as shown,
    octet_length(concat(h.input_types, h.return_types, h.return_names)) as bytes
  from host_node h ${joinPolicy(sql)}
  where h.version_id = ${versionId}
`

/** Both forms of host nodes that two versions have. */
export const readPairs = async (
  sql: Queryable,
  { from, to }: Versions,
  names: readonly string[],
): Promise<{ name: string; before: HostNodeText; after: HostNodeText }[]> => {
  const textsOf = (versionId: string, policy: Fragment) => sql`
    select h.*, ${policy} as policy
    from host_node h ${joinPolicy(sql)}
    where h.version_id = ${versionId} and h.host_node_name = any(${[...names]})
  `
  return await sql<{ name: string; before: HostNodeText; after: HostNodeText }[]>`
    select a.host_node_name as name, row_to_json(a) as before, row_to_json(b) as after
    from (${textsOf(from, policyBefore(sql, { from, to }))}) a
    join (${textsOf(to, policyOf(sql))}) b on b.host_node_name = a.host_node_name
  `
}
