import type { Queryable, Transaction } from '../../platform/db/client.ts'

/** A stored secret; its text is encrypted. */
export interface StoredSecret {
  owner: string
  secret: string
  createdAt: Date
  /** When it stops signing; null of the current one. */
  expiresAt: Date | null
}

/** The secrets of each owner that sign now, newest first: never more than two. */
export const listSecrets = async (
  sql: Queryable,
  owners: readonly string[],
): Promise<StoredSecret[]> =>
  await sql`
  select s.owner, s.secret, s.created_at as "createdAt", s.expires_at as "expiresAt"
  -- the list in a select: of one that it sees PostgreSQL makes a plan each time
  from unnest((select ${[...owners]}::text[])) as of (owner)
  cross join lateral (
    select owner, secret, created_at, expires_at
    from webhook_secret
    where owner = of.owner and (expires_at is null or expires_at > clock_timestamp())
    -- the current one first, also when the clock went back since the other was made
    order by expires_at desc nulls first
    limit 2
  ) s
`

/** Stores the first secret of an owner, unless there is one already. */
export const insertFirstSecret = async (
  sql: Queryable,
  { owner, secret }: { owner: string; secret: string },
): Promise<void> => {
  // It waits for a rotation: between its update and its insert a rotation would meet this secret.
  await sql`
    insert into webhook_secret (owner, secret)
    select ${owner}, ${secret} from ${lockOf(sql, owner)}
    on conflict (owner) where expires_at is null do nothing
  `
}

/**
 * Puts a new secret in the place of the current one, which goes on signing beside it for `overlapSeconds`. A secret
 * that was replaced earlier goes at once.
 */
export const rotateSecret = async (
  sql: Transaction,
  { owner, secret, overlapSeconds }: { owner: string; secret: string; overlapSeconds: number },
): Promise<void> => {
  // Two rotations at once must not both find the same current secret.
  await sql`select from ${lockOf(sql, owner)}`
  await sql`delete from webhook_secret where owner = ${owner} and expires_at is not null`
  await sql`
    update webhook_secret
    set expires_at = clock_timestamp() + make_interval(secs => ${overlapSeconds})
    where owner = ${owner} and expires_at is null
  `
  await sql`insert into webhook_secret (owner, secret) values (${owner}, ${secret})`
}

/** Returns one row once nobody else makes or replaces secrets of the owner. It holds until the end of the transaction. */
const lockOf = (sql: Queryable, owner: string) =>
  sql`pg_advisory_xact_lock(hashtextextended('webhook-secret ' || ${owner}, 0))`
