import type { Sql } from '../../platform/db/client.ts'
import type { Members } from '../domain/template/custom-kind.ts'

/** Members that an upstream takes beside the interface in the body of one route. */
export interface UpstreamBody {
  path: string
  members: Members
}

/** Lists what upstreams take beside the interface. */
export const listUpstreamBodies = async (sql: Sql): Promise<UpstreamBody[]> =>
  await sql<UpstreamBody[]>`select path, members from upstream_body order by path`

/**
 * Writes what upstreams take. False: nothing is new.
 * @param paths all routes that have an upstream; others are removed
 * @param bodies those that were read just now
 */
export const publishUpstreamBodies = async (
  sql: Sql,
  { paths, bodies }: { paths: readonly string[]; bodies: readonly UpstreamBody[] },
): Promise<boolean> => {
  const { count: removed } = await sql`
    delete from upstream_body where not path = any(${[...paths]})
  `
  const { count: written } = await sql`
    insert into upstream_body as b (path, members)
    select * from unnest(${bodies.map(({ path }) => path)}::text[],
      ${bodies.map(({ members }) => JSON.stringify(members))}::text[]::json[])
    on conflict (path) do update set members = excluded.members
      where b.members::text <> excluded.members::text
  `
  return removed + written > 0
}
