import type { Queryable } from '../../platform/db/client.ts'

/** One of the five steps of a version on its way to its decision. */
interface VersionStep {
  step: 'received' | 'read' | 'scanned' | 'host_nodes' | 'active'
  state: 'waiting' | 'running' | 'done' | 'failed' | 'held'
  at?: string
}

/** The steps of a version, always these in this order. */
export const listVersionSteps = async (sql: Queryable, id: string): Promise<VersionStep[]> => {
  const rows = await sql<(Omit<VersionStep, 'at'> & { at: Date | null })[]>`
    select s.step, s.state, s.at
    from version v
    left join archive a on a.version_id = v.id
    cross join lateral (
      select case when v.checks_failed_at is not null then 'failed'
          when v.archive_state in ('received', 'accepted') then 'running' else 'waiting' end as going,
        (select max(scanned_at) from scan where version_id = v.id and sha256 = a.sha256) as scanned_at,
        (select max(read_at) from extraction where version_id = v.id and sha256 = a.sha256) as read_at
    ) f
    cross join lateral (values
      (1, 'received', case when a.received_at is not null then 'done'
        when v.archive_state = 'expired' then 'failed' else 'waiting' end, a.received_at),
      -- its scan is recorded with it
      (2, 'read', case v.archive_state when 'accepted' then 'done' when 'rejected' then 'failed'
        else f.going end, case when v.archive_state = 'accepted' then f.scanned_at end),
      (3, 'scanned', case when f.scanned_at is not null then 'done' else f.going end, f.scanned_at),
      (4, 'host_nodes', case v.host_node_extract_status when 'success' then 'done'
        when 'failed' then 'failed' else f.going end, f.read_at),
      (5, 'active', case v.status when 'NodeVersionStatusPending' then 'waiting'
        when 'NodeVersionStatusActive' then 'done' when 'NodeVersionStatusFlagged' then 'held'
        else 'failed' end, case when v.status <> 'NodeVersionStatusPending' then v.last_moved_at end)
    ) s (position, step, state, at)
    where v.id = ${id}
    order by s.position
  `
  return rows.map(({ at, ...step }) => ({ ...step, ...(at && { at: at.toISOString() }) }))
}
