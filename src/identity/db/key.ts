import type { Queryable } from '../../platform/db/client.ts'

/** A key that signs tokens; its private part is encrypted. */
export interface SigningKeyRow {
  period: string
  privateKey: string
  /** True once every api has had the time to read it. */
  isKnown: boolean
}

/** Days after which another key signs. */
const PERIOD_DAYS = 30

/** Adds the key of the period that is now, unless it is there. `make` returns the encrypted key for its period. */
export const ensureKey = async (
  sql: Queryable,
  make: (period: string) => Promise<string>,
): Promise<void> => {
  const [now] = await sql<{ period: string; exists: boolean }[]>`
    select period::text, exists (select from sign_in_key k where k.period = n.period)
    from (select floor(extract(epoch from now()) / (86400 * ${PERIOD_DAYS}::int))::bigint as period) n
  `
  if (now === undefined || now.exists) return
  await sql`
    insert into sign_in_key (period, private_key)
    values (${now.period}, ${await make(now.period)})
    on conflict (period) do nothing
  `
}

/**
 * Lists the keys that verify, newest first: of this period and of the one before, whose tokens have long ended when it
 * goes.
 */
export const listKeys = async (sql: Queryable): Promise<SigningKeyRow[]> =>
  await sql`
  select period::text, private_key as "privateKey", created_at < now() - interval '1 hour' as "isKnown"
  from sign_in_key
  order by sign_in_key.period desc
  limit 2
`
