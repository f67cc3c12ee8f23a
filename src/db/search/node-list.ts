import type { NodeListQuery, PublisherNodesQuery } from '../../domain/registry/node-query.ts'
import { offsetOf } from '../registry/audit-log.ts'
import type { Queryable } from '../client.ts'
import { nodeEntriesQuery, toEntries, type Entries, type EntryRow } from './entries.ts'
import { listNodePage, type NodePageOptions } from './node-page.ts'
import type { RecordOptions } from '../registry/node.ts'

/** A page of all listed nodes, by time of creation and id unless asked otherwise, at any depth, and how many there are. */
export const listNodes = (
  sql: Queryable,
  query: NodeListQuery & { page: number; limit: number },
  options: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> =>
  listNodePage(
    sql,
    {
      filter: {
        ids: query.node_id,
        os: query.supported_os,
        accelerators: query.supported_accelerator,
        changedSince: query.timestamp ? new Date(query.timestamp) : undefined,
        status: query.status,
        includeBanned: query.include_banned || query.status !== undefined,
      },
      order: query.sort ?? 'created_at',
      offset: offsetOf(query.page, query.limit),
      limit: query.limit,
    },
    options,
  )

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
