import type { DownloadDay } from '../domain/download.ts'
import type { Queryable } from '../../platform/db/client.ts'

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

/** Installs of a node by day and version, oldest day first. */
export const listDownloads = async (
  sql: Queryable,
  { nodeId, from, to }: { nodeId: string; from: string; to: string },
): Promise<DownloadDay[]> => [
  ...(await sql<DownloadDay[]>`
    select to_char(d.day, 'YYYY-MM-DD') as day, sum(d.n)::float8 as downloads,
      json_object_agg(v.version, d.n order by v.version) as versions
    from version v join download_day d on d.version_id = v.id
    where v.node_id = ${nodeId} and d.day between ${from}::date and ${to}::date
    group by d.day order by d.day
  `),
]
