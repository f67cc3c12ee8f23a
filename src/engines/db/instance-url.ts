import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'

/** True while something of a placement may be on `instance i`. */
const isNamed = (sql: Queryable) => sql`
  exists (select from placement p where p.instance = i.name and p.cleaned_at is null)
`

/** Lists the addresses of these instances of an engine, and of all others that placements name. */
export const listInstanceUrls = async (
  sql: Sql,
  { names, engine }: { names: readonly string[]; engine: string | null },
): Promise<{ name: string; url: string }[]> =>
  await sql<{ name: string; url: string }[]>`
  select i.name, i.url from instance i
  where i.url is not null and i.engine is not distinct from ${engine} and (i.name = any(${[...names]}) or ${isNamed(sql)})
  order by i.name
`

/** Gives names their addresses. One that placements name keeps its own. */
export const setInstanceUrls = async (
  sql: Transaction,
  instances: readonly { name: string; url: string }[],
  engine: string | null,
): Promise<void> => {
  const names = instances.map(({ name }) => name)
  const given = sql`unnest(${names}::text[], ${instances.map(({ url }) => url)}::text[]) as given (name, url)`
  await sql`
    insert into instance (name, url, engine) select name, url, ${engine} from ${given} order by name
    on conflict do nothing
  `
  await lockInstances(sql, names)
  await sql`
    update instance i set url = given.url,
      marker = case when i.url is null then i.marker end,
      template = case when i.url is null then i.template end
    from ${given}
    where i.name = given.name and i.url is distinct from given.url
      and (i.url is null or not ${isNamed(sql)})
  `
}

/** Forgets instances that no source names any more, unless placements do. */
export const deleteInstances = async (
  sql: Transaction,
  names: readonly string[],
): Promise<void> => {
  await lockInstances(sql, names)
  await sql`delete from instance i where i.name = any(${[...names]}) and not ${isNamed(sql)}`
}

/** Whoever inserts a placement locks the row of its instance, so the next statement sees all of them. */
const lockInstances = async (sql: Transaction, names: readonly string[]): Promise<void> => {
  await sql`select from instance where name = any(${[...names]}) order by name for update`
}
