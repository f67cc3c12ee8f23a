import type { ArchiveState, VersionStatus } from '../domain/version.ts'
import type { StuckVersion } from '../../tasks/domain/operations.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { instant } from '../../platform/db/instant.ts'
import { UPLOAD_GRACE_SECONDS } from './archive.ts'
import type { Fragment, Queryable, Sql } from '../../platform/db/client.ts'
import { STUCK_SECONDS } from '../../tasks/db/operator.ts'
import { isAmong } from '../../platform/db/reconcile.ts'
import type { StalledOptions } from '../../platform/db/reconcile.ts'

/** A version as operators and the reconciler see it: what its workflow starts with, and where it stands. */
export interface OpenVersion {
  id: string
  nodeId: string
  version: string
  publisherId: string
  owner: string
  status: VersionStatus
  archiveState: ArchiveState
}

const openVersionColumns = (sql: Queryable) => sql`
  v.id, v.node_id as "nodeId", v.version, n.publisher_id as "publisherId",
  v.published_by as owner, v.status, v.archive_state as "archiveState"
`

/** True when workers have something to do for a version: its checks, or the extraction of its host nodes. */
export const hasOpenVersion = async (sql: Sql): Promise<boolean> => {
  const [row] = await sql<{ is: boolean }[]>`
    select exists (
      select from version
      where status = 'NodeVersionStatusPending' and checks_failed_at is null
        and archive_state in ('received', 'accepted')
    ) or exists (
      select from version
      where host_node_extract_status in ('pending', 'reported') and archive_state = 'accepted'
        and status <> 'NodeVersionStatusDeleted'
    ) as is
  `
  return row?.is === true
}

/** Any publisher's version, for operators. */
export const findOpenVersion = async (
  sql: Queryable,
  id: string,
): Promise<OpenVersion | undefined> => {
  if (!isUuid(id)) return undefined
  const [row] = await sql<OpenVersion[]>`
    select ${openVersionColumns(sql)} from version v join node n on n.id = v.node_id where v.id = ${id}
  `
  return row
}

/**
 * Pending versions that have not moved for so long although the relay has nothing of theirs to send, by id. Versions
 * whose checks gave up wait for an operator and are left out.
 */
export const listStalledVersions = (sql: Sql, options: StalledOptions): Promise<OpenVersion[]> =>
  listStalled(sql, options, {
    condition: sql`v.status = 'NodeVersionStatusPending' and v.checks_failed_at is null`,
    workflowIds: sql`('publish-version/' || v.id)`,
  })

/** Lists decided versions whose extraction stands still, because nobody finishes it any more, by id. */
export const listStalledExtractions = (sql: Sql, options: StalledOptions): Promise<OpenVersion[]> =>
  listStalled(sql, options, {
    condition: sql`v.host_node_extract_status in ('pending', 'reported') and v.archive_state = 'accepted'
      and v.status not in ('NodeVersionStatusPending', 'NodeVersionStatusDeleted')`,
    workflowIds: sql`('publish-version/' || v.id, 'extract-host-nodes/' || v.id)`,
  })

const listStalled = async (
  sql: Sql,
  { afterSeconds, ids, limit }: StalledOptions,
  { condition, workflowIds }: { condition: Fragment; workflowIds: Fragment },
): Promise<OpenVersion[]> =>
  await sql<OpenVersion[]>`
    select ${openVersionColumns(sql)}
    from version v join node n on n.id = v.node_id
    where ${condition}
      and v.last_moved_at < now() - make_interval(secs => ${afterSeconds})
      and ${isAmong(sql, sql`v.id`, ids)}
      and not exists (
        select from outbox o
        where o.workflow_id in ${workflowIds} and o.kind <> 'signal' and o.dispatched_at is null
      )
    order by v.id
    limit ${limit}
  `

/** Pending versions that have not moved for 10 minutes, the stillest first, but for those whose upload may still come. */
export const listStuckVersions = async (sql: Sql): Promise<StuckVersion[]> =>
  await sql<StuckVersion[]>`
    select id, node_id, version, status_reason as reason, ${instant(sql, sql`last_moved_at`)} as since
    from version
    where status = 'NodeVersionStatusPending'
      and last_moved_at < now() - make_interval(secs => ${STUCK_SECONDS})
      and (archive_state <> 'awaiting' or checks_failed_at is not null
        or upload_expires_at < now() - make_interval(secs => ${UPLOAD_GRACE_SECONDS}))
    order by last_moved_at
    limit 100
  `
