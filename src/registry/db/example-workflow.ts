import type { ExampleWorkflow } from '../../../packages/inspector/src/inspection.ts'
import type { Queryable } from '../../platform/db/client.ts'

/** An example that is a workflow. */
export type StoredExample = ExampleWorkflow & { form: 'editor' | 'api' }

/** The newest reading of the archive of `version v`, as `examples`. */
export const examplesOf = (sql: Queryable) => sql`
  select e.examples from extraction e
  join archive a on a.version_id = e.version_id and a.sha256 = e.sha256
  where e.version_id = v.id
  order by e.extractor_version desc limit 1
`

/** Example workflows of a version, of those alone that use a host node where it is given, by path. */
export const listExampleWorkflows = async (
  sql: Queryable,
  { versionId, hostNode }: { versionId: string; hostNode?: string | undefined },
): Promise<StoredExample[]> => {
  const rows = await sql<{ example: StoredExample }[]>`
    select example from version v
    cross join lateral (${examplesOf(sql)}) e
    cross join lateral jsonb_array_elements(e.examples) example
    where v.id = ${versionId} and example ->> 'form' <> 'none'
      and ${usesHostNode(sql, hostNode ?? null)}
    order by (example ->> 'path') collate "C"
  `
  return rows.map(({ example }) => example)
}

/** True of an `example` that uses a host node; of any without a name. */
export const usesHostNode = (sql: Queryable, name: string | null) => sql`(${name}::text is null
  or example -> 'host_nodes' @> jsonb_build_array(jsonb_build_object('name', ${name}::text)))`
