import type { FetchedPicture } from '../domain/picture-address.ts'
import type { Queryable } from '../../platform/db/client.ts'

/** A picture that is named: by an address, or by the id that it has in the store. */
export interface NamedPicture {
  url: string | null
  kept: string | null
}

/** The pictures of a node, by its id as it is stored. */
export const findNodePictures = async (
  sql: Queryable,
  id: string,
): Promise<Record<'icon' | 'banner', NamedPicture> | undefined> => {
  const [row] = await sql<Record<'icon' | 'banner', NamedPicture>[]>`
    select json_build_object('url', icon, 'kept', icon_picture) as icon,
      json_build_object('url', banner_url, 'kept', banner_picture) as banner
    from node where id = ${id}
  `
  return row
}

export const findLogo = async (sql: Queryable, id: string): Promise<NamedPicture | undefined> => {
  const [row] = await sql<NamedPicture[]>`
    select logo as url, logo_picture as kept from publisher where id = ${id}
  `
  return row
}

/** Ids of pictures in the store that nothing names. */
export const listUnknownPictures = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select given.id from unnest(${[...ids]}::uuid[]) as given (id)
    where not exists (select from node where icon_picture = given.id)
      and not exists (select from node where banner_picture = given.id)
      and not exists (select from publisher where logo_picture = given.id)
  `
  return rows.map((row) => row.id)
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
