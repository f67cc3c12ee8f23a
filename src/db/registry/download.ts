import type { Queryable } from '../client.ts'

/**
 * Counts one install of a version, on its node and by the day in UTC. The count of a node lies in `node_stats`, apart
 * from what searches index. Installs of one node wait for each other on that row.
 */
export const countDownload = async (
  sql: Queryable,
  { nodeId, versionId }: { nodeId: string; versionId: string },
): Promise<void> => {
  await sql`
    with counted as (
      update node_stats set downloads = downloads + 1 where node_id = ${nodeId} returning 1
    )
    insert into download_day as d (version_id, day, n)
    select ${versionId}::uuid, (clock_timestamp() at time zone 'UTC')::date, 1 from counted
    on conflict (version_id, day) do update set n = d.n + 1
  `
}
