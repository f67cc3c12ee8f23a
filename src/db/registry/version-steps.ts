import type { VersionProgress } from '../../domain/registry/version-step.ts'
import type { Queryable } from '../client.ts'

/** What the rows of a version tell of its way; undefined when there is none. */
export const findVersionProgress = async (
  sql: Queryable,
  id: string,
): Promise<VersionProgress | undefined> => {
  const [row] = await sql<VersionProgress[]>`
    select v.status, v.last_moved_at as "movedAt", v.checks_failed_at is not null as "hasGivenUp",
      v.archive_state as "archiveState", a.received_at as "receivedAt",
      (select max(s.scanned_at) from scan s where s.version_id = v.id and s.sha256 = a.sha256)
        as "scannedAt",
      v.host_node_extract_status as "extractStatus",
      (select max(e.read_at) from extraction e where e.version_id = v.id and e.sha256 = a.sha256)
        as "readAt"
    from version v
    left join archive a on a.version_id = v.id
    where v.id = ${id}
  `
  return row
}
