import type { ApiKey, ListedApiKey } from '../domain/api-key.ts'
import { maskCredential } from '../../platform/domain/credential.ts'
import type { KeyScope } from '../../platform/domain/key-scope.ts'
import type { Queryable } from '../../platform/db/client.ts'

export interface NewApiKeyRow {
  owner: string
  name: string
  /** Lower-case hex of the key; the key itself is never stored. */
  sha256: string
  last4: string
  expires_at: Date | undefined
  scopes?: readonly KeyScope[] | undefined
  creditCap?: number | undefined
}

/** Inserts a key; undefined when it would have expired already by the database's clock. */
export const insertApiKey = async (
  sql: Queryable,
  { owner, name, sha256, last4, expires_at, scopes, creditCap }: NewApiKeyRow,
): Promise<ApiKey | undefined> => {
  const [row] = await sql<Row[]>`
    insert into api_key (owner, name, sha256, last4, expires_at, scopes, credit_cap)
    select ${owner}, ${name}, ${sha256}, ${last4}, expires_at, ${scopes ? [...scopes] : null}::text[],
      ${creditCap ?? null}::bigint
    from (select ${expires_at ?? null}::timestamptz as expires_at) given
    where expires_at is null or expires_at > clock_timestamp()
    returning id, name, created_at as "createdAt", expires_at, scopes,
      credit_cap::float8 as credit_cap
  `
  return row && toApiKey(row)
}

/** The live keys of an owner, newest first. */
export const listApiKeys = async (sql: Queryable, owner: string): Promise<ListedApiKey[]> => {
  const rows = await sql<
    (Row & { last4: string; last_used_at: Date | null; credits_used: number })[]
  >`
    select id, name, last4, created_at as "createdAt", expires_at, scopes,
      credit_cap::float8 as credit_cap, credits_used::float8 as credits_used, last_used_at
    from api_key
    where owner = ${owner}
      and ${isLive(sql)}
    order by created_at desc, id desc
  `
  return rows.map(({ last4, last_used_at, credits_used, ...row }) => ({
    ...toApiKey(row),
    ...(row.credit_cap !== null && { credits_used }),
    key: maskCredential('api_key', last4),
    ...(last_used_at && { last_used_at: last_used_at.toISOString() }),
  }))
}

/** Reads the names of keys, ended ones too, by their id. */
export const readKeyNames = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<Record<string, string>> => {
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from api_key where id = any(${[...ids]}::uuid[])
  `
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]))
}

/** Ends a live key of an owner; false when there is none with that id. */
export const revokeApiKey = async (
  sql: Queryable,
  { id, owner }: { id: string; owner: string },
): Promise<boolean> => {
  const rows = await sql`
    update api_key
    set revoked_at = clock_timestamp()
    where id::text = ${id.toLowerCase()}
      and owner = ${owner}
      and ${isLive(sql)}
    returning id
  `
  return rows.length > 0
}

export interface ApiKeyOwner {
  id: string
  owner: string
  /** Null: all that the owner may do. */
  scopes: KeyScope[] | null
  isCapped: boolean
  /** True when `touchApiKey` would change `last_used_at`. */
  touch_due: boolean
}

/** Finds a live key by the digest of its text. */
export const findApiKey = async (
  sql: Queryable,
  sha256: string,
): Promise<ApiKeyOwner | undefined> => {
  const [row] = await sql<ApiKeyOwner[]>`
    select id, owner, scopes, credit_cap is not null as "isCapped", ${isTouchDue(sql)} as touch_due
    from api_key
    where sha256 = ${sha256}
      and ${isLive(sql)}
  `
  return row
}

/**
 * Moves `last_used_at` at the first use, then at most hourly. It is apart from the look-up so that a server that only
 * reads still knows the key, and skips a locked row so that many first uses at once do not queue for it.
 */
export const touchApiKey = async (sql: Queryable, id: string): Promise<void> => {
  await sql`
    update api_key set last_used_at = clock_timestamp()
    where id in (
      select id from api_key where id = ${id} and ${isTouchDue(sql)}
      for update skip locked
    )
  `
}

/** The condition that an API key or a personal access token still counts. */
export const isLive = (sql: Queryable) =>
  sql`revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`

/** The condition that neither the API key that row `t` was made with nor the account of its owner has ended. */
export const isMakerLive = (sql: Queryable) => sql`(
  (t.api_key_id is null or exists (
    select from api_key where api_key.id = t.api_key_id and ${isLive(sql)}
  )) and (select a.disabled_at from sign_in_account a where a.id = t.owner) is null
)`

/** Uses are noted at most hourly. */
export const isTouchDue = (sql: Queryable) =>
  sql`(last_used_at is null or last_used_at < clock_timestamp() - interval '1 hour')`

interface Row {
  id: string
  name: string
  createdAt: Date
  expires_at: Date | null
  scopes: KeyScope[] | null
  credit_cap: number | null
}

const toApiKey = ({ id, name, createdAt, expires_at, scopes, credit_cap }: Row): ApiKey => ({
  id,
  name,
  createdAt: createdAt.toISOString(),
  ...(expires_at && { expires_at: expires_at.toISOString() }),
  ...(scopes && { scopes }),
  ...(credit_cap !== null && { credit_cap }),
})
