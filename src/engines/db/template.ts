import type { CustomTemplate, Members } from '../domain/template/custom-kind.ts'
import type { Template } from '../domain/template/template.ts'
import type { Sql } from '../../platform/db/client.ts'

/** The graph of a template with its marks, and the members of its body. */
export interface Content {
  content: Template
  members: Members
}

interface NewTemplate extends Content {
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
  await sql`
    with published as (
      insert into template as t (name, digest, content, members)
      values (${name}, ${digest}, ${JSON.stringify(content)}::text::json,
        ${JSON.stringify(members)}::text::json)
      on conflict (name, digest) do update set members = excluded.members,
        at = case when ${isNew} then excluded.at else t.at end,
        removed_at = case when ${isNew} then null else t.removed_at end
    )
    update template set removed_at = clock_timestamp()
    where ${isNew} and name = ${name} and digest <> ${digest} and removed_at is null
  `
}

/** Ends the kinds whose templates are not among these. Returns their names. */
export const removeTemplates = async (sql: Sql, names: readonly string[]): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    update template set removed_at = clock_timestamp()
    where removed_at is null and not name = any(${[...names]})
    returning name
  `
  return rows.map(({ name }) => name)
}

/** Lists the templates that are kinds now. Of two that workers have written at once the newer one counts. */
export const listTemplates = async (sql: Sql): Promise<CustomTemplate[]> =>
  await sql<CustomTemplate[]>`
  select distinct on (name) id, name, members from template
  where removed_at is null
  order by name, at desc, id desc
`

export const listKinds = async (sql: Sql): Promise<string[]> =>
  (await listTemplates(sql)).map(({ name }) => name)

/** Reads a template that a task was made with, whether it still is a kind or not. */
export const getTemplateOf = async (sql: Sql, id: number): Promise<Content> => {
  const [row] = await sql<Content[]>`select content, members from template where id = ${id}`
  if (!row) throw new Error(`there is no template ${id}`)
  return row
}
