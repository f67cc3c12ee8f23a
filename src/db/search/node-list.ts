import type { Node } from '../../domain/registry/node.ts'
import type { NodeListQuery, PublisherNodesQuery } from '../../domain/registry/node-query.ts'
import { offsetOf } from '../registry/audit-log.ts'
import type { Queryable } from '../client.ts'
import { listNodePage } from './node-page.ts'
import type { NodePageOptions } from './node-page.ts'
import type { RecordOptions } from '../registry/node.ts'
import { joinNode, nodeJson } from '../registry/registry-json.ts'

/** A page of all listed nodes by time of creation and id, at any depth, and how many there are. */
export const listNodes = (
  sql: Queryable,
  query: NodeListQuery & { page: number; limit: number },
  options: NodePageOptions,
): Promise<{ nodes: Node[]; total: number }> =>
  listNodePage(
    sql,
    {
      filter: {
        ids: query.node_id,
        os: query.supported_os,
        accelerators: query.supported_accelerator,
        changedSince: query.timestamp ? new Date(query.timestamp) : undefined,
        includeBanned: query.include_banned,
      },
      order: 'created',
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
): Promise<{ nodes: Node[]; total: number }> => {
  const { publisherId, page, limit, include_banned: includeBanned = false } = query
  const found = sql`
    from node n join node_stats s on s.node_id = n.id
    where n.publisher_id = lower(${publisherId}::text)
      and ${includeBanned ? sql`n.status <> 'NodeStatusDeleted'` : sql`s.listed`}
  `
  const [rows, [count]] = await Promise.all([
    sql<{ node: Node }[]>`
      select ${nodeJson(sql, publicUrl)} as node
      from (select n.id ${found} order by n.id limit ${limit} offset ${offsetOf(page, limit)}) page
      join node n on n.id = page.id
      ${joinNode(sql)}
      order by n.id
    `,
    sql<{ total: number }[]>`select count(*)::integer as total ${found}`,
  ])
  return { nodes: rows.map(({ node }) => node), total: count?.total ?? 0 }
}
