import type { NodeListQuery, PublisherNodesQuery } from '../../domain/node-query.ts'
import { offsetOf } from '../../../platform/db/audit-log.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import { nodeEntriesQuery, toEntries, type Entries, type EntryRow } from './entries.ts'
import { listNodePage, type NodePageOptions } from './node-page.ts'
import type { NodeFilter } from './node-filter.ts'
import type { RecordOptions } from '../node.ts'

/** A page of all listed nodes, by time of creation and id unless asked otherwise, at any depth, and how many there are. */
export const listNodes = (
  sql: Queryable,
  query: NodeListQuery & { page: number; limit: number },
  options: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> =>
  listNodePage(
    sql,
    {
      filter: toListFilter(query),
      order: query.sort ?? 'created_at',
      offset: offsetOf(query.page, query.limit),
      limit: query.limit,
    },
    options,
  )

export const toListFilter = (query: Omit<NodeListQuery, 'page' | 'limit'>): NodeFilter => ({
  ids: query.node_id,
  os: query.supported_os,
  licenses: query.license,
  accelerators: query.supported_accelerator,
  changedSince: query.timestamp ? new Date(query.timestamp) : undefined,
  status: query.status,
  includeBanned: query.include_banned || query.status !== undefined,
  includeRemoved: query.include_removed,
})

/**
 * Finds the time from which on a later list may have what one that is read afterwards has not: a change has its time
 * when it is made, and is seen once its transaction is committed. Sessions of other roles are seen by members of
 * `pg_read_all_stats` alone. A session that waits between statements and has no id has written nothing yet.
 */
export const findNextTimestamp = async (sql: Queryable): Promise<Date> => {
  const [row] = await sql<{ next: Date }[]>`
    select least(statement_timestamp(), min(xact_start)) as next
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
      and (state = 'active' or backend_xid is not null)
  `
  if (!row) throw new Error('an aggregate without a row')
  return row.next
}

/** A page of a publisher's nodes by id, and how many there are. */
export const listPublisherNodes = async (
  sql: Queryable,
  query: PublisherNodesQuery & { publisherId: string; page: number; limit: number },
  { publicUrl }: RecordOptions,
): Promise<{ nodes: Entries; total: number }> => {
  const { publisherId, limit, include_banned: includeBanned = false } = query
  const isShown = includeBanned ? sql`n.status <> 'NodeStatusDeleted'` : sql`s.listed`
  const page = {
    rows: sql`
      select n.id as node_id
      from node n
      join node_stats s on s.node_id = n.id
      where n.publisher_id = lower(${publisherId}::text) and ${isShown}
      order by n.id
      limit ${limit} offset ${offsetOf(query.page, limit)}
    `,
    order: sql`page.node_id`,
  }
  const [rows, [count]] = await Promise.all([
    sql<EntryRow[]>`${nodeEntriesQuery(sql, { ...page, publicUrl })}`,
    sql<{ total: number }[]>`
      select count(*)::integer as total
      from node n
      join node_stats s on s.node_id = n.id
      where n.publisher_id = lower(${publisherId}::text) and ${isShown}
    `,
  ])
  return { nodes: toEntries(rows), total: count?.total ?? 0 }
}
