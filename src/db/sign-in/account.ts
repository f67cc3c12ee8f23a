import { instant } from '../shared/instant.ts'
import type { Queryable, Transaction } from '../client.ts'

/** An account of AUTH=builtin. */
export interface Account {
  /** `sub` of its tokens. */
  id: string
  email: string
  isAdmin: boolean
  /** Digest of its password; null: it has none. */
  password: string | null
  disabled: boolean
}

/** Adds an account; undefined when the address has one already. */
export const insertAccount = async (
  sql: Queryable,
  { id, email, isAdmin }: Pick<Account, 'id' | 'email' | 'isAdmin'>,
): Promise<Account | undefined> => {
  const [row] = await sql<Account[]>`
    insert into sign_in_account (id, email, is_admin)
    values (${id}, ${email}, ${isAdmin})
    on conflict (email) do nothing
    returning ${columns(sql)}
  `
  return row
}

export const findAccountByEmail = async (
  sql: Queryable,
  email: string,
): Promise<Account | undefined> => {
  const [row] = await sql<Account[]>`
    select ${columns(sql)} from sign_in_account where email = ${email}
  `
  return row
}

/** Finds an account that may sign in. */
export const findLiveAccount = async (sql: Queryable, id: string): Promise<Account | undefined> => {
  const [row] = await sql<Account[]>`
    select ${columns(sql)} from sign_in_account where id = ${id} and disabled_at is null
  `
  return row
}

export interface ListedAccount extends Pick<Account, 'id' | 'email' | 'isAdmin' | 'disabled'> {
  created_at: string
  passkeys: number
  sessions: number
  hasPassword: boolean
}

const MOST_LISTED = 1000

/** Lists the accounts by address. */
export const listAccounts = async (sql: Queryable): Promise<ListedAccount[]> =>
  await sql`
  select id, email, is_admin as "isAdmin", disabled_at is not null as disabled,
    ${instant(sql, sql`created_at`)} as created_at,
    password is not null as "hasPassword",
    (select count(*)::int from sign_in_passkey p where p.account_id = a.id) as passkeys,
    (select count(*)::int from sign_in_record r
      where r.account_id = a.id and r.model = 'Session' and r.expires_at > now()) as sessions
  from sign_in_account a
  order by email
  limit ${MOST_LISTED}
`

export const setPassword = async (
  sql: Queryable,
  id: string,
  password: string | null,
): Promise<void> => {
  await sql`update sign_in_account set password = ${password} where id = ${id}`
}

/** Lets an account sign in, or keeps it from it. */
export const setDisabled = async (
  sql: Queryable,
  id: string,
  isDisabled: boolean,
): Promise<void> => {
  await sql`
    update sign_in_account
    set disabled_at = case when ${isDisabled} then coalesce(disabled_at, clock_timestamp()) end
    where id = ${id}
  `
}

/** Ends every API key and personal access token of a user: who may not sign in must not go on by them. */
export const revokeCredentials = async (sql: Transaction, user: string): Promise<void> => {
  await sql`
    update api_key set revoked_at = clock_timestamp() where owner = ${user} and revoked_at is null
  `
  await sql`
    update personal_access_token set revoked_at = clock_timestamp()
    where created_by = ${user} and revoked_at is null
  `
}

const columns = (sql: Queryable) =>
  sql`id, email, is_admin as "isAdmin", password, disabled_at is not null as disabled`
