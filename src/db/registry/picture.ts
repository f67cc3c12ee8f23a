import type { FetchedPicture } from '../../domain/registry/picture-address.ts'
import type { Queryable } from '../client.ts'

/** The addresses that a node names, by its id as it is stored. */
export const findNodePictures = async (
  sql: Queryable,
  id: string,
): Promise<{ icon: string | null; banner: string | null } | undefined> => {
  const [row] = await sql<{ icon: string | null; banner: string | null }[]>`
    select icon, banner_url as banner from node where id = ${id}
  `
  return row
}

export const findLogo = async (sql: Queryable, id: string): Promise<string | null | undefined> => {
  const [row] = await sql<{ logo: string | null }[]>`select logo from publisher where id = ${id}`
  return row?.logo
}

/** A picture that was fetched within a day; or within 10 minutes one that could not be, whose `error` says why. */
export const findPicture = async (
  sql: Queryable,
  key: string,
): Promise<FetchedPicture | undefined> => {
  const [row] = await sql<FetchedPicture[]>`
    select bytes, error from picture
    where key = ${key} and fetched_at > now() - make_interval(mins => case when bytes is null then 10 else 1440 end)
  `
  return row
}

export const keepPicture = async (
  sql: Queryable,
  key: string,
  { bytes, error }: FetchedPicture,
): Promise<void> => {
  await sql`
    insert into picture (key, bytes, error) values (${key}, ${bytes}, ${error})
    on conflict (key) do update
      set bytes = excluded.bytes, error = excluded.error, fetched_at = clock_timestamp()
  `
}
