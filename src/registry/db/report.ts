import { auditTarget } from '../../platform/domain/audit-log.ts'
import type { ListedReport, NewReport, Report } from '../domain/report.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { insertAudit, offsetOf } from '../../platform/db/audit-log.ts'
import type { Audit } from '../../platform/db/audit-log.ts'

const members = (sql: Queryable) => sql`
  'id', r.id, 'node_id', r.node_id, 'reason', r.reason, 'text', r.text,
  'created_at', ${instant(sql, sql`r.created_at`)}, 'closed_at', ${instant(sql, sql`r.closed_at`)},
  'decision', r.decision
`

/** Stores a user's report about a node, in place of the one that is still open. */
export const putReport = async (
  sql: Transaction,
  { nodeId, userId, reason, text }: NewReport & { nodeId: string; userId: string },
): Promise<Report> => {
  // Trigger `report_platform_event` (0069): records an event for the platform's endpoints.
  const [row] = await sql<{ report: Report }[]>`
    insert into node_report as r (node_id, reported_by, reason, text)
    values (${nodeId}, ${userId}, ${reason}, ${text})
    on conflict (node_id, reported_by) where closed_at is null
    do update set reason = excluded.reason, text = excluded.text, created_at = excluded.created_at
    returning json_strip_nulls(json_build_object(${members(sql)})) as report
  `
  if (!row) throw new Error('an insert without a row')
  return row.report
}

/** Most reports of one user about one node that are shown. */
const OWN_MAX = 100

export const listOwnReports = async (
  sql: Queryable,
  { nodeId, userId }: { nodeId: string; userId: string },
): Promise<Report[]> => {
  const rows = await sql<{ report: Report }[]>`
    select json_strip_nulls(json_build_object(${members(sql)})) as report
    from node_report r where r.node_id = ${nodeId} and r.reported_by = ${userId}
    order by r.created_at desc, r.id limit ${OWN_MAX}
  `
  return rows.map(({ report }) => report)
}

interface ReportFilter {
  nodeId: string | undefined
  page: number
  pageSize: number
}

/** A page of the queue, or of all reports about a node, and how many there are. */
export const listReports = async (
  sql: Queryable,
  { nodeId, page, pageSize }: ReportFilter,
): Promise<{ reports: ListedReport[]; total: number }> => {
  const found =
    nodeId === undefined
      ? sql`from node_report r where r.closed_at is null`
      : sql`from node_report r where r.node_id = (select id from node where id_lower = lower(${nodeId}::text))`
  const order = nodeId === undefined ? sql`r.created_at, r.id` : sql`r.created_at desc, r.id`
  const [rows, [count]] = await Promise.all([
    sql<{ report: ListedReport }[]>`
      select json_strip_nulls(json_build_object(${members(sql)}, 'reported_by', r.reported_by,
        'decided_by', r.decided_by, 'open_of_node', (
          select count(*) from node_report o where o.node_id = r.node_id and o.closed_at is null))) as report
      ${found} order by ${order}
      limit ${pageSize} offset ${offsetOf(page, pageSize)}
    `,
    sql<{ total: number }[]>`select count(*)::integer as total ${found}`,
  ])
  return { reports: rows.map(({ report }) => report), total: count?.total ?? 0 }
}

interface Decision {
  id: string
  decision: string
  all: boolean
  audit: Audit
}

/** Closes a report, or all about its node, with the audit entry. Returns how many; undefined when it is not open. */
export const closeReports = async (
  sql: Transaction,
  { id, decision, all, audit }: Decision,
): Promise<number | undefined> => {
  const [given] = await sql<{ nodeId: string; reason: string }[]>`
    select node_id as "nodeId", reason from node_report where id = ${id} and closed_at is null
    for no key update
  `
  if (!given) return undefined
  const { count } = await sql`
    update node_report
    set closed_at = clock_timestamp(), decided_by = ${audit.actor}, decision = ${decision}
    where node_id = ${given.nodeId} and closed_at is null and (${all} or id = ${id})
  `
  await insertAudit(sql, audit, {
    action: 'report.close',
    target: auditTarget.node(given.nodeId),
    before: { report: id, reason: given.reason },
    after: { closed: count },
    reason: decision,
  })
  return count
}
