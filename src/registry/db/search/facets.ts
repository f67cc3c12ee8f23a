import type { NodeFacets } from '../../domain/node-query.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import type { CountCache } from './listed-count.ts'
import { matches } from './node-count.ts'
import { isFound, partPattern, readTerm, startPattern, type NodeFilter } from './node-filter.ts'

/** The column of each facet, and the filter that it leaves out, so that a second choice can be added. */
const FACETS = {
  tag: ['tags', 'tags'],
  os: ['supported_os', 'os'],
  accelerator: ['supported_accelerators', 'accelerators'],
  license: ['license_id', 'licenses'],
} as const satisfies Record<keyof NodeFacets, [column: string, filter: keyof NodeFilter]>

/** Age at which counts are made again, whatever is published (docs/search.md, Facets). */
const KEPT_MS = 60_000

/** Counts the values of each facet among the nodes that a filter finds. */
export const countFacets = async (
  sql: Queryable,
  filter: NodeFilter,
  cache: CountCache,
): Promise<NodeFacets> => {
  const changes = String(Math.floor(Date.now() / KEPT_MS))
  const count = (name: keyof NodeFacets): Promise<NodeFacets['tag']> => {
    const [column, own] = FACETS[name]
    const others = { ...filter, [own]: undefined }
    return cache.get(`facet ${name} ${JSON.stringify(others)}`, changes, async () => ({
      changes,
      counts: await countValues(sql, column, others),
    }))
  }
  return {
    tag: await count('tag'),
    os: await count('os'),
    accelerator: await count('accelerator'),
    license: await count('license'),
  }
}

const countValues = async (
  sql: Queryable,
  column: (typeof FACETS)[keyof NodeFacets][0],
  filter: NodeFilter,
): Promise<NodeFacets['tag']> => {
  const term = readTerm(filter)
  const hasTerm = term === undefined ? sql`` : sql`and ${isFound(sql, term)}`
  const values = sql`n.${sql(column)}`
  const given = {
    tags: sql`lower_all(${values})`,
    supported_os: sql`platform_keys(${values})`,
    supported_accelerators: sql`platform_keys(${values})`,
    license_id: sql`array_remove(array[${values}], null)`,
  }[column]
  const rows = await sql<NodeFacets['tag']>`
    select value, count(*)::integer as count
    from (select ${given} as given from node n where ${matches(sql, filter)} ${hasTerm}) hit
    cross join lateral (select distinct value from unnest(given) value) own
    ${column.startsWith('supported') ? sql`where value <> 'any'` : sql``}
    group by value
    order by count(*) desc, value
    limit 20
  `
  return [...rows]
}

/** Lists up to three of the latest host nodes of each node by a text in their names, those that begin with it first. */
export const findMatchedHostNodes = async (
  sql: Queryable,
  nodeIds: readonly string[],
  search: string,
): Promise<Record<string, string[]>> => {
  const rows = await sql<{ id: string; names: string[] }[]>`
    select asked.id, array(
      select name from current_host_node
      where node_id = asked.id and (lower(name) like ${partPattern(sql, search)}
        or lower(display_name) like ${partPattern(sql, search)})
      order by lower(name) like ${startPattern(sql, search)} desc, name
      limit 3) as names
    from unnest(${[...nodeIds]}::text[]) asked (id)
  `
  return Object.fromEntries(rows.map(({ id, names }) => [id, names]))
}

/** Most texts about the host's versions that a search compares, at some 0.5 ms each; others leave nothing out. */
const HOST_VERSIONS_MAX = 100

/** Lists what nodes say of the host's versions, the most frequent first: odd texts do not push common ones out. */
export const listHostVersions = async (sql: Queryable): Promise<string[]> => {
  const rows = await sql<{ given: string }[]>`
    select supported_host_version as given from node
    where supported_host_version is not null
    group by supported_host_version
    order by count(*) desc, supported_host_version
    limit ${HOST_VERSIONS_MAX}
  `
  return rows.map(({ given }) => given)
}
