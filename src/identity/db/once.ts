import { instant } from '../../platform/db/instant.ts'
import type { Queryable } from '../../platform/db/client.ts'

/** Kinds of values that count once. */
export type OnceKind = 'link' | 'challenge'

interface Once {
  /** SHA-256 of the value, which is never stored. */
  sha256: string
  kind: OnceKind
  /** Account that it is for; absent: for whoever has it. */
  accountId?: string | undefined
}

/** Adds a value. Returns the time at which it ends. */
export const insertOnce = async (
  sql: Queryable,
  { sha256, kind, accountId, seconds }: Once & { seconds: number },
): Promise<string> => {
  const [row] = await sql<{ expires_at: string }[]>`
    insert into sign_in_once (sha256, kind, account_id, expires_at)
    values (${sha256}, ${kind}, ${accountId ?? null}, now() + make_interval(secs => ${seconds}))
    returning ${instant(sql, sql`expires_at`)} as expires_at
  `
  return row?.expires_at ?? ''
}

/** Finds the account of a link that still counts. */
export const findLinkAccount = async (
  sql: Queryable,
  sha256: string,
): Promise<string | undefined> => {
  const [row] = await sql<{ accountId: string }[]>`
    select account_id as "accountId" from sign_in_once
    where sha256 = ${sha256} and kind = 'link' and expires_at > now()
  `
  return row?.accountId
}

/** Uses a value up; false when it does not count, or no longer. */
export const takeOnce = async (
  sql: Queryable,
  { sha256, kind, accountId }: Once,
): Promise<boolean> => {
  const rows = await sql`
    delete from sign_in_once
    where sha256 = ${sha256} and kind = ${kind} and expires_at > now()
      and account_id is not distinct from ${accountId ?? null}
    returning sha256
  `
  return rows.length > 0
}

/** Ends the links of an account that were made before. */
export const deleteLinks = async (sql: Queryable, accountId: string): Promise<void> => {
  await sql`delete from sign_in_once where account_id = ${accountId} and kind = 'link'`
}
