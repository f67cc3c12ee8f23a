import type { HostNodePolicy } from '../domain/host-node.ts'
import type { Fragment, Queryable } from '../../platform/db/client.ts'
import { isWithin, toEntries } from './search/entries.ts'
import type { Entries, EntryRow } from './search/entries.ts'
import { offsetOf } from '../../platform/db/audit-log.ts'
import { partPattern } from './search/node-filter.ts'
import { hostNodeJson } from './host-node.ts'
import { joinPolicy, policyOf } from './host-node-policy.ts'

interface HostNodeList {
  versionId: string
  search?: string | undefined
  policies?: readonly HostNodePolicy[] | undefined
  page: number
  limit: number
}

/** A page of a version's host nodes by name, and how many there are; none before they were read or reported. */
export const listHostNodes = async (
  sql: Queryable,
  { versionId, search, policies, page, limit }: HostNodeList,
): Promise<{ hostNodes: Entries; total: number }> => {
  const found = sql`
    ${hostNodesOf(sql, versionId)}
    ${search ? sql`and ${matches(sql, search)}` : sql``}
    ${policies ? sql`and ${policyOf(sql)} = any(${[...policies]})` : sql``}
  `
  const shown = sql`
    select h.*, v.rev ${found} order by h.host_node_name limit ${limit} offset ${offsetOf(page, limit)}
  `
  // One statement, so that page and total are of one moment: a reading may be stored meanwhile.
  const rows = await sql<(EntryRow & { total: number })[]>`
    select counted.total, entry.*
    from (select count(*)::integer as total ${found}) counted
    left join (${entriesQuery(sql, shown)}) entry on true
    order by entry.id
  `
  const entries = rows.filter(({ id }) => id !== null)
  return { hostNodes: toEntries(entries), total: rows[0]?.total ?? 0 }
}

/** Host nodes that a page has left for later, by name. One that was replaced meanwhile is left out. */
export const readHostNodeEntries = async (
  sql: Queryable,
  { versionId, names }: { versionId: string; names: readonly string[] },
): Promise<Entries> => {
  const asked = sql`
    select h.*, v.rev ${hostNodesOf(sql, versionId)} and h.host_node_name = any(${[...names]})
  `
  const rows = await sql<EntryRow[]>`${entriesQuery(sql, asked)} order by id`
  return toEntries(rows)
}

const hostNodesOf = (sql: Queryable, versionId: string) => sql`
  from host_node h
  join version v on v.id = h.version_id and v.host_node_extract_status in ('success', 'reported')
  ${joinPolicy(sql)}
  where h.version_id = ${versionId}
`

/** A type stands behind its input's name and a bracket, or in the list of outputs. */
const matches = (sql: Queryable, search: string) => sql`(
  lower(concat_ws(' ', h.host_node_name, h.display_name, h.category)) like ${partPattern(sql, search)}
  or lower(h.return_types) like ${partPattern(sql, `"${search}`)}
  or lower(h.input_types) like ${partPattern(sql, `:["${search}`)}
)`

const entriesQuery = (sql: Queryable, hostNodes: Fragment) => sql`
  select h.host_node_name as id, concat_ws('.', h.rev, y.policy, md5(y.reason)) as revision,
    case when ${isWithin(sql, hostNodeBytes(sql))} then ${hostNodeJson(sql)}::text end as text
  from (${hostNodes}) h
  ${joinPolicy(sql)}
  window listed as (order by h.host_node_name)
`

const hostNodeBytes = (sql: Queryable) => sql`
  stored_bytes(h.input_types) + stored_bytes(h.return_types) + stored_bytes(h.return_names)
    + stored_bytes(h.category) + stored_bytes(h.description) + stored_bytes(h.function)
`
