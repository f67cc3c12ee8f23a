import type { AuditAction, AuditLogEntry } from '../../domain/registry/audit-log.ts'
import type { Queryable, Transaction } from '../client.ts'
import { instant } from '../shared/instant.ts'

/** Actor and request of a change through `/admin`. */
export interface Audit {
  actor: string
  requestId: string
}

interface AuditChange {
  action: AuditAction
  /** By `auditTarget`. */
  target: string
  /** The members that changed, as they were and as they are. */
  before: object
  after: object
  reason?: string | undefined
}

/** Writes a change into the log, in the change's own transaction. */
export const insertAudit = async (
  sql: Transaction,
  { actor, requestId }: Audit,
  { action, target, before, after, reason }: AuditChange,
): Promise<void> => {
  await sql`
    insert into audit_log (actor, action, target, before, after, reason, request_id)
    values (${actor}, ${action}, ${target}, ${sql.json(before as never)}, ${sql.json(after as never)},
      ${reason ?? null}, ${requestId})
  `
}

interface AuditFilter {
  actor?: string | undefined
  action?: string | undefined
  target?: string | undefined
  page: number
  pageSize: number
}

/** A page of the log, newest first, and how many entries the filter finds. */
export const listAudit = async (
  sql: Queryable,
  { actor, action, target, page, pageSize }: AuditFilter,
): Promise<{ entries: AuditLogEntry[]; total: number }> => {
  const found = sql`
    from audit_log
    where true
      ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
      ${target === undefined ? sql`` : sql`and target = ${target}`}
  `
  const [rows, [count]] = await Promise.all([
    sql<(Omit<AuditLogEntry, 'reason'> & { reason: string | null })[]>`
      select id, ${instant(sql, sql`audit_log.at`)} as at, actor, action, target, before, after,
        reason, request_id
      ${found}
      order by audit_log.at desc, id
      limit ${pageSize} offset ${offsetOf(page, pageSize)}
    `,
    sql<{ total: number }[]>`select count(*)::float8 as total ${found}`,
  ])
  return {
    entries: rows.map(({ reason, ...entry }) => ({ ...entry, ...(reason !== null && { reason }) })),
    total: count?.total ?? 0,
  }
}

/** Rows before a page that counts from 1, 0 being the first, too; PAGE_MAX times a size stays exact. */
export const offsetOf = (page: number, size: number): number => Math.max(page - 1, 0) * size
