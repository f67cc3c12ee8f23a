import type { NodePage } from '../../domain/node-query.ts'
import type { Fragment, Queryable } from '../../../platform/db/client.ts'
import { nodeConditions, readTerm, type NodeFilter } from './node-filter.ts'

type Similar = NonNullable<NodePage['did_you_mean']>

/** Least share of trigrams that a text and words of a name have in common: `imgae` and `image` have this. */
const LEAST = '0.2'

/** Most nodes that are ranked; a text that is like more of them is like these, too. */
const RANKED_MAX = 2_000

/**
 * Lists up to three listed nodes like the term of a filter, most like it first: by id and name, or where no node is like it,
 * by host node. A filter without a term is read by its host node alone.
 */
export const findSimilar = async (sql: Queryable, filter: NodeFilter): Promise<Similar> => {
  const term = readTerm(filter)
  if (term !== undefined) {
    const names = [sql`n.id_lower`, sql`n.name_lower`]
    const similar = await findLike(sql, { text: term, filter, names, joined: sql`` })
    if (similar.length > 0) return similar
  }
  const { term: _, hostNode = term ?? '', ...others } = filter
  const joined = sql`join node_host_names h on h.node_id = n.id`
  const asked = { text: hostNode, filter: others, names: [sql`h.names`], joined }
  return await nameHostNodes(sql, await findLike(sql, asked), hostNode)
}

interface Asked {
  text: string
  filter: NodeFilter
  /** Columns with names, whose trigrams have an index. */
  names: readonly Fragment[]
  /** The table that they are in, beside `node n`. */
  joined: Fragment
}

/**
 * The least share is a setting, here of this statement alone: the text is of the row that sets it, so the indexes are read
 * after that. The planner does not see the bound, for which it would read all nodes.
 */
const findLike = async (
  sql: Queryable,
  { text, filter, names, joined }: Asked,
): Promise<Similar> => {
  const isLike = names
    .map((name) => sql`text <<% ${name}`)
    .reduce((all, one) => sql`${all} or ${one}`)
  const shares = names
    .map((name) => sql`strict_word_similarity(text, ${name})`)
    .reduce((all, one) => sql`${all}, ${one}`)
  const rows = await sql<{ id: string; name: string }[]>`
    with asked as materialized (
      select lower(${text}::text) as text,
        set_config('pg_trgm.strict_word_similarity_threshold', ${LEAST}, true)
    )
    select id, name
    from asked cross join lateral (
      select n.id, n.name, s.search_ranking, s.downloads, greatest(${shares}) as likeness
      from node n join node_stats s on s.node_id = n.id
      ${joined}
      where (${isLike}) and s.listed ${nodeConditions(sql, filter, { asSet: false })}
      limit (select ${RANKED_MAX}::integer)
    ) hit
    order by likeness desc, search_ranking, downloads desc, id
    limit 3
  `
  return [...rows]
}

/** Adds to each node the name of its host node that is most like a text. */
const nameHostNodes = async (sql: Queryable, nodes: Similar, text: string): Promise<Similar> => {
  const rows = await sql<{ id: string; name: string }[]>`
    select asked.id, c.name
    from unnest(${nodes.map(({ id }) => id)}::text[]) as asked (id)
    cross join lateral (
      select name from current_host_node
      where node_id = asked.id
      order by greatest(similarity(lower(${text}::text), lower(name)),
        similarity(lower(${text}::text), lower(display_name))) desc, name
      limit 1
    ) c
  `
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return nodes.map((node) => {
    const name = names.get(node.id)
    return name === undefined ? node : { ...node, host_node: name }
  })
}
