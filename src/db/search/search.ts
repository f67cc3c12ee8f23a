import type { NodeSearchQuery } from '../../domain/registry/node-query.ts'
import { offsetOf } from '../registry/audit-log.ts'
import type { Queryable } from '../client.ts'
import type { Entries } from './entries.ts'
import { listNodePage } from './node-page.ts'
import type { NodePageOptions } from './node-page.ts'
import type { NodeFilter } from './node-filter.ts'

/** A query whose defaults are applied and whose depth is judged; `include_banned` counts for platform admins alone. */
export type NodeSearch = NodeSearchQuery & { page: number; limit: number }

/** A page of the nodes that a search finds, the most relevant first unless asked otherwise, and how many there are. */
export const searchNodes = (
  sql: Queryable,
  search: NodeSearch,
  options: NodePageOptions,
): Promise<{ nodes: Entries; total: number }> =>
  listNodePage(
    sql,
    {
      filter: toSearchFilter(search),
      order: search.sort ?? 'relevance',
      offset: offsetOf(search.page, search.limit),
      limit: search.limit,
    },
    options,
  )

/** An empty text is no filter. */
export const toSearchFilter = (search: Omit<NodeSearch, 'page' | 'limit'>): NodeFilter => ({
  term: search.search?.trim() || undefined,
  repository: search.repository_url_search || undefined,
  hostNode: search.host_node_search || undefined,
  os: search.supported_os,
  accelerators: search.supported_accelerator,
  tags: search.tag,
  includeBanned: search.include_banned,
})
