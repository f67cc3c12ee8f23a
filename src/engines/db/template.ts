import type { CustomTemplate, Members } from '../domain/template/custom-kind.ts'
import type { Template } from '../domain/template/template.ts'
import type { Fragment, Queryable, Sql, Transaction } from '../../platform/db/client.ts'

/** The graph of a template with its marks, and the members of its body. */
export interface Content {
  content: Template
  members: Members
}

/** An engine of ENGINES_HTTP, in place of a graph. */
export interface EngineContent {
  name: string
  engine: string
}

/** As the release before wrote it. */
type Earlier = Omit<Template, 'results' | 'limits' | 'version'> &
  Partial<Template> & { result?: string }

interface NewTemplate extends Omit<Content, 'content'> {
  content: Template | EngineContent
  /** Without the folder. */
  name: string
  digest: string
  /** The folder has changed: it becomes the one of its name, whatever another worker has written. */
  isNew: boolean
}

export const publishTemplate = async (
  sql: Sql,
  { name, digest, content, members, isNew }: NewTemplate,
): Promise<void> => {
  // A worker of the release before looks for one result.
  const result = 'results' in content ? { result: content.results[0]?.node } : {}
  const text = JSON.stringify({ ...content, ...result })
  await sql`
    with published as (
      insert into template as t (name, digest, content, members)
      values (${name}, ${digest}, ${text}::text::json,
        ${JSON.stringify(members)}::text::json)
      on conflict (name, digest) do update set members = excluded.members,
        at = case when ${isNew} then excluded.at else t.at end,
        removed_at = case when ${isNew} then null else t.removed_at end
    )
    update template set removed_at = clock_timestamp()
    where ${isNew} and name = ${name} and digest <> ${digest} and removed_at is null
  `
}

/** Ends the kinds of templates, or of engines, that are not among these. Returns their names. */
export const removeTemplates = async (
  sql: Sql,
  names: readonly string[],
  of: 'templates' | 'engines',
): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    update template set removed_at = clock_timestamp()
    where removed_at is null and not name = any(${[...names]})
      and (content->>'engine' is not null) = ${of === 'engines'}
    returning name
  `
  return rows.map(({ name }) => name)
}

/** Lists the templates that are kinds now. Of two that workers have written at once the newer one counts. */
export const listTemplates = async (sql: Sql): Promise<CustomTemplate[]> =>
  await sql<CustomTemplate[]>`
  select distinct on (name) id, name, members, content->'limits'->'owners' as owners,
    content->>'engine' as engine
  from template
  where removed_at is null
  order by name, at desc, id desc
`

export const listKinds = async (sql: Sql): Promise<string[]> =>
  (await listTemplates(sql)).map(({ name }) => name)

/** Reads a template that a task was made with, whether it still is a kind or not. */
export const getTemplateOf = async (sql: Sql, id: number): Promise<Content> => {
  const [row] = await sql<(Omit<Content, 'content'> & { content: Earlier })[]>`
    select content, members from template where id = ${id}
  `
  if (!row) throw new Error(`there is no template ${id}`)
  const { content, members } = row
  const { result = '', results = [{ node: result }], limits = {}, version = '' } = content
  return { members, content: { ...content, results, limits, version } }
}

/** Records versions of templates that were not seen before. */
export const recordVersions = async (
  sql: Sql,
  templates: readonly Pick<Template, 'name' | 'version'>[],
): Promise<void> => {
  await sql`
    insert into template_version (name, digest)
    select * from unnest(${templates.map(({ name }) => name)}::text[],
      ${templates.map(({ version }) => version)}::text[]) as seen (name, digest)
    where not exists (
      select from template_version v where v.name = seen.name and v.digest = seen.digest)
    on conflict do nothing
  `
}

/** Counts the placements of a template whose tasks are on an instance. */
const openOf = (sql: Queryable, name: Fragment) => sql`
  (select count(*)::integer from placement p join task t on t.id = p.task_id
    where p.template = ${name} and p.cleaned_at is null and p.state = 'open'
      and p.ended_at is null and t.ended_at is null)
`

/** True where one more task of a template may be on an instance until the end of the transaction, whoever else asks. */
export const hasRoom = async (
  sql: Transaction,
  { name, limits: { at_once: max } }: Pick<Template, 'name' | 'limits'>,
): Promise<boolean> => {
  if (max === undefined) return true
  await sql`select pg_advisory_xact_lock(hashtextextended(${`template ${name}`}, 0))`
  const [row] = await sql<{ open: number }[]>`select ${openOf(sql, sql`${name}`)} as open`
  return (row?.open ?? 0) < max
}

/** Finds how many more tasks of each limited template may be on instances, by its name. */
export const listRoom = async (
  sql: Sql,
  templates: readonly Pick<Template, 'name' | 'limits'>[],
): Promise<Record<string, number>> => {
  const limited = templates.filter(({ limits }) => limits.at_once !== undefined)
  if (limited.length === 0) return {}
  const rows = await sql<{ name: string; open: number }[]>`
    select name, ${openOf(sql, sql`name`)} as open
    from unnest(${limited.map(({ name }) => name)}::text[]) as name
  `
  return Object.fromEntries(
    limited.map(({ name, limits: { at_once: max = 0 } }) => {
      const { open = 0 } = rows.find((row) => row.name === name) ?? {}
      return [name, Math.max(0, max - open)]
    }),
  )
}
