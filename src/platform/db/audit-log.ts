import { isDeepStrictEqual } from 'node:util'

import type { AuditAction, AuditLogEntry } from '../domain/audit-log.ts'
import type { Queryable, Transaction } from './client.ts'
import { instant } from './instant.ts'

/** Origin of a change: who makes it, by what and from where. */
export interface Audit {
  /** Id of a user; of an operator's command `operator:` and the system's user. */
  actor: string
  requestId: string
  /** Address of the client. */
  address?: string | undefined
  /** Credential without its secret, such as `api_key/<id>`. */
  credential?: string | undefined
}

export interface AuditChange {
  action: AuditAction
  /** By `auditTarget`. */
  target: string
  /** The members that changed, as they were and as they are, without secrets. */
  before?: object | undefined
  after?: object | undefined
  reason?: string | undefined
}

/** Writes a change into the log, in the change's own transaction. What has no member on either side is no change. */
export const insertAudit = async (
  sql: Transaction,
  { actor, requestId, address, credential }: Audit,
  { action, target, before = {}, after = {}, reason }: AuditChange,
): Promise<void> => {
  if (Object.keys({ ...before, ...after }).length === 0) return
  await sql`
    insert into audit_log
      (actor, action, target, before, after, reason, request_id, address, credential)
    values (${actor}, ${action}, ${target}, ${sql.json(before as never)}, ${sql.json(after as never)},
      ${reason ?? null}, ${requestId}, ${address ?? null}, ${credential ?? null})
  `
}

/** Adds to the entry that began something how that has ended, in the transaction of its end. */
export const completeAudit = async (
  sql: Transaction,
  { action, target, after }: Pick<AuditChange, 'action' | 'target'> & { after: object },
): Promise<void> => {
  await sql`
    update audit_log set after = after || ${sql.json(after as never)}
    where target = ${target} and action = ${action}
  `
}

/** Those members of a body whose values it has changed, on both sides. Clients send whole records back, and the log is to be read. */
export const changesOf = (
  before: object,
  after: object,
  fields: object,
): { before: object; after: object } => {
  const [was, is] = [before, after].map((record) => new Map(Object.entries(record)))
  const names = Object.keys(fields).filter(
    (name) => !isDeepStrictEqual(was?.get(name), is?.get(name)),
  )
  const pick = (record: typeof was) =>
    Object.fromEntries(names.map((name) => [name, record?.get(name) ?? null]))
  return { before: pick(was), after: pick(is) }
}

interface AuditFilter {
  actor?: string | undefined
  action?: string | undefined
  target?: string | undefined
  address?: string | undefined
  /** Entries at this time or later, and before that one. */
  since?: Date | undefined
  until?: Date | undefined
  page: number
  pageSize: number
}

/** A page of the log, newest first, and how many entries the filter finds. */
export const listAudit = async (
  sql: Queryable,
  { actor, action, target, address, since, until, page, pageSize }: AuditFilter,
): Promise<{ entries: AuditLogEntry[]; total: number }> => {
  const found = sql`
    from audit_log
    where true
      ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
      ${target === undefined ? sql`` : sql`and target = ${target}`}
      ${address === undefined ? sql`` : sql`and address = ${address}`}
      ${since === undefined ? sql`` : sql`and audit_log.at >= ${since}`}
      ${until === undefined ? sql`` : sql`and audit_log.at < ${until}`}
  `
  const [rows, [count]] = await Promise.all([
    sql<{ entry: AuditLogEntry }[]>`
      select json_build_object('id', id, 'at', ${instant(sql, sql`audit_log.at`)}, 'actor', actor,
        'action', action, 'target', target, 'before', before, 'after', after,
        'request_id', request_id)::jsonb || jsonb_strip_nulls(jsonb_build_object(
        'reason', reason, 'address', address, 'credential', credential, 'actor_name', (
          select coalesce(u.email, u.name) from app_user u where u.id = actor))) as entry
      ${found}
      order by audit_log.at desc, id
      limit ${pageSize} offset ${offsetOf(page, pageSize)}
    `,
    sql<{ total: number }[]>`select count(*)::float8 as total ${found}`,
  ])
  return {
    entries: rows.map(({ entry }) => entry),
    total: count?.total ?? 0,
  }
}

/** Rows before a page that counts from 1, 0 being the first, too; PAGE_MAX times a size stays exact. */
export const offsetOf = (page: number, size: number): number => Math.max(page - 1, 0) * size
