import type { Queryable } from '../../platform/db/client.ts'

/** A user as the claims of the last token said. */
export interface AppUser {
  /** `sub` of the user's tokens. */
  id: string
  name: string
  email?: string
}

/** Writes a user from the claims of a token; a row that says the same already is not touched. */
export const upsertUser = async (sql: Queryable, user: AppUser): Promise<void> => {
  const { id, name, email = null } = user
  await sql`
    insert into app_user (id, name, email)
    select ${id}::text, ${name}::text, ${email}::text
    where not exists (
      select from app_user where id = ${id} and name = ${name} and email is not distinct from ${email}
    )
    on conflict (id) do update set name = excluded.name, email = excluded.email
  `
}

/** Writes the user of an API key, unless a token has said more about them. */
export const ensureUser = async (sql: Queryable, id: string): Promise<void> => {
  await sql`
    insert into app_user (id, name)
    select ${id}::text, ${id}::text where not exists (select from app_user where id = ${id})
    on conflict (id) do nothing
  `
}

export const findUser = async (sql: Queryable, id: string): Promise<AppUser | undefined> => {
  const [row] = await sql<{ user: AppUser }[]>`
    select json_strip_nulls(json_build_object('id', id, 'name', name, 'email', email)) as user
    from app_user where id = ${id}
  `
  return row?.user
}
