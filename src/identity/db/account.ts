import { lookOf } from '../domain/email.ts'
import { instant } from '../../platform/db/instant.ts'
import type { Queryable, Transaction } from '../../platform/db/client.ts'

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

/** Adds an account; false when the address, or one that looks the same, has one already. */
export const insertAccount = async (
  sql: Queryable,
  { id, email, isAdmin }: Pick<Account, 'id' | 'email' | 'isAdmin'>,
): Promise<boolean> => {
  await writeLooks(sql)
  const rows = await sql`
    insert into sign_in_account (id, email, look, is_admin)
    values (${id}, ${email}, ${lookOf(email)}, ${isAdmin})
    on conflict do nothing
    returning id
  `
  return rows.length > 0
}

/** Fills in `look` where an account has none. Where several addresses look the same, only the oldest has it. */
const writeLooks = async (sql: Queryable): Promise<void> => {
  const rows = await sql<Pick<Account, 'id' | 'email'>[]>`
    select id, email from sign_in_account where look is null order by created_at
  `
  for (const { id, email } of rows)
    await sql`
      update sign_in_account set look = ${lookOf(email)}
      where id = ${id} and not exists (select from sign_in_account where look = ${lookOf(email)})
    `
}

/** Finds the account of an address, or of one that looks the same. */
export const findAccountByEmail = async (
  sql: Queryable,
  email: string,
): Promise<Account | undefined> => {
  const [row] = await sql<Account[]>`
    select ${columns(sql)} from sign_in_account where email = ${email} or look = ${lookOf(email)}
    order by email = ${email} desc
    limit 1
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

const MAX_LISTED = 1000

/** Lists the accounts by address, or the one with an id. */
export const listAccounts = async (sql: Queryable, id?: string): Promise<ListedAccount[]> =>
  await sql`
  select id, email, is_admin as "isAdmin", disabled_at is not null as disabled,
    ${instant(sql, sql`created_at`)} as created_at,
    password is not null as "hasPassword",
    (select count(*)::int from sign_in_passkey p where p.account_id = a.id) as passkeys,
    (select count(*)::int from sign_in_record r
      where r.account_id = a.id and r.model = 'Session' and r.expires_at > now()) as sessions
  from sign_in_account a
  ${id === undefined ? sql`` : sql`where id = ${id}`}
  order by email
  limit ${MAX_LISTED}
`

/** Changes what is given: the password's digest, whether the account may sign in, and whether it is an admin's. */
export const updateAccount = async (
  sql: Queryable,
  id: string,
  {
    password,
    isDisabled,
    isAdmin,
  }: { password?: string | null; isDisabled?: boolean; isAdmin?: boolean },
): Promise<void> => {
  await sql`
    update sign_in_account set
      is_admin = coalesce(${isAdmin ?? null}::boolean, is_admin),
      password = case when ${password === undefined} then password else ${password ?? null} end,
      disabled_at = case when ${isDisabled ?? null}::boolean is null then disabled_at
        when ${isDisabled ?? null}::boolean then clock_timestamp() end
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

/** Lets an external issuer's subject be the user of an account. */
export const linkSubject = async (sql: Queryable, subject: string, user: string): Promise<void> => {
  await sql`
    insert into subject_link (subject, user_id) values (${subject}, ${user})
    on conflict (subject) do update set user_id = excluded.user_id
  `
}

/** Finds the user that a subject was linked to. */
export const findLinkedUser = async (
  sql: Queryable,
  subject: string,
): Promise<string | undefined> => {
  const [row] = await sql<{ user: string }[]>`
    select user_id as "user" from subject_link where subject = ${subject}
  `
  return row?.user
}

/** True when a user owns anything that would be lost to them under another id. */
export const ownsAnything = async (sql: Queryable, user: string): Promise<boolean> => {
  const [row] = await sql<{ owns: boolean }[]>`
    select exists (select from task where owner = ${user})
      or exists (select from api_key where owner = ${user})
      or exists (select from publisher_member where user_id = ${user}) as owns
  `
  return row?.owns === true
}
