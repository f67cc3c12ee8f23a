import type { NodePage } from '../../domain/node-query.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import { nodeConditions, readTerm, type NodeFilter } from './node-filter.ts'

/** Least share of trigrams that a term and words of an id or name have in common: `imgae` and `image` have this. */
const LEAST = '0.2'

/** Most nodes that are ranked; a term that is like more of them is like these, too. */
const RANKED_MAX = 2_000

/**
 * Lists up to three listed nodes whose id or name is like a term, those most like it first. The least share is a setting,
 * here of this statement alone: the term is of the row that sets it, so the indexes are read after that. The planner does
 * not see the bound, for which it would read all nodes.
 */
export const findSimilarNodes = async (
  sql: Queryable,
  filter: NodeFilter,
): Promise<NonNullable<NodePage['did_you_mean']>> => {
  const rows = await sql<{ id: string; name: string }[]>`
    with asked as materialized (
      select lower(${readTerm(filter) ?? ''}::text) as term,
        set_config('pg_trgm.strict_word_similarity_threshold', ${LEAST}, true)
    )
    select id, name
    from asked cross join lateral (
      select n.id, n.name, s.search_ranking, s.downloads, greatest(
          strict_word_similarity(term, n.id_lower), strict_word_similarity(term, n.name_lower)
        ) as likeness
      from node n join node_stats s on s.node_id = n.id
      where (term <<% n.id_lower or term <<% n.name_lower)
        and s.listed ${nodeConditions(sql, filter, { asSet: false })}
      limit (select ${RANKED_MAX}::integer)
    ) hit
    order by likeness desc, search_ranking, downloads desc, id
    limit 3
  `
  return [...rows]
}
