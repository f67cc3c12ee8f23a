import type { Transaction } from '../client.ts'

/**
 * Chooses the latest version of a node anew: of the active ones not deprecated before deprecated, then releases before
 * pre-releases, then the highest. Every move and change of a version does so in its own transaction. Each of them also
 * counts as a change of the node, for clients that keep a copy of the lists. The caller holds the node's row; without it
 * two moves at once would each miss the other's version.
 */
export const settleLatestVersion = async (sql: Transaction, nodeId: string): Promise<void> => {
  const [changed] = await sql`
    with latest as (
      select (
        select id from version
        where node_id = ${nodeId} and status = 'NodeVersionStatusActive'
        order by deprecated, (pre_key <> '~'), major desc, minor desc, patch desc, pre_key desc
        limit 1
      ) as id
    ), old as (
      select latest_version_id as id from node where id = ${nodeId}
    ), settled as (
      update node n
      set latest_version_id = latest.id,
        updated_at = greatest(clock_timestamp(), n.updated_at),
        rev = n.rev + case when n.latest_version_id is distinct from latest.id then 1 else 0 end
      from latest
      where n.id = ${nodeId}
    )
    select from latest, old where latest.id is distinct from old.id
  `
  if (changed) await settleCurrentHostNodes(sql, nodeId)
}

/** Makes the names that the reverse look-up and the search read those of the latest version. */
export const settleCurrentHostNodes = async (sql: Transaction, nodeId: string): Promise<void> => {
  // Triggers `current_host_node_inserted` and `_deleted` (0011): write the names as one text, which searches read.
  await sql`
    with latest as (
      select h.host_node_name as name
      from node n
      join version v on v.id = n.latest_version_id and v.host_node_extract_status = 'success'
      join host_node h on h.version_id = v.id
      where n.id = ${nodeId}
    ), gone as (
      delete from current_host_node
      where node_id = ${nodeId} and name not in (select name from latest)
    )
    insert into current_host_node (node_id, name) select ${nodeId}, name from latest
    on conflict do nothing
  `
}
