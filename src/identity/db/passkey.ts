import { instant } from '../../platform/db/instant.ts'
import type { Queryable } from '../../platform/db/client.ts'

export interface Passkey {
  /** Id of the credential, in base64url. */
  id: string
  accountId: string
  /** COSE, in base64url. */
  publicKey: string
  counter: number
  transports: string[]
}

export const insertPasskey = async (sql: Queryable, passkey: Passkey): Promise<boolean> => {
  const { id, accountId, publicKey, counter, transports } = passkey
  const rows = await sql`
    insert into sign_in_passkey (id, account_id, public_key, counter, transports)
    values (${id}, ${accountId}, ${publicKey}, ${counter}, ${transports})
    on conflict (id) do nothing
    returning id
  `
  return rows.length > 0
}

export const findPasskey = async (sql: Queryable, id: string): Promise<Passkey | undefined> => {
  const [row] = await sql<Passkey[]>`
    select id, account_id as "accountId", public_key as "publicKey", counter::float8 as counter, transports
    from sign_in_passkey where id = ${id}
  `
  return row
}

/** Writes the counter of a passkey that was used; false when another use has had it, as a copy of the key would. */
export const usePasskey = async (
  sql: Queryable,
  { id, before, counter }: { id: string; before: number; counter: number },
): Promise<boolean> => {
  const rows = await sql`
    update sign_in_passkey set counter = ${counter}, used_at = clock_timestamp()
    where id = ${id} and counter = ${before}
    returning id
  `
  return rows.length > 0
}

export interface ListedPasskey {
  id: string
  created_at: string
  used_at: string | null
}

export const listPasskeys = async (sql: Queryable, accountId: string): Promise<ListedPasskey[]> =>
  await sql`
  select id, ${instant(sql, sql`created_at`)} as created_at, ${instant(sql, sql`used_at`)} as used_at
  from sign_in_passkey where account_id = ${accountId}
  order by created_at desc
`

/** Removes one passkey of an account, or all. */
export const deletePasskeys = async (
  sql: Queryable,
  { accountId, id }: { accountId: string; id?: string },
): Promise<void> => {
  await sql`
    delete from sign_in_passkey
    where account_id = ${accountId} ${id === undefined ? sql`` : sql`and id = ${id}`}
  `
}
