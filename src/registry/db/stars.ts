import type { Queryable, Sql } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'

/** A repository whose stars are to be fetched. */
export interface DueRepository {
  /** `<host>/<owner>/<name>`, in small letters. */
  key: string
  /** ETag of the last response. */
  etag: string | null
}

/** Outcome of an attempt at fetching stars; without `stars` the number of before stays. */
export interface StarsRecord {
  key: string
  stars?: number
  etag?: string | undefined
  error?: string
  /** Until the next attempt. */
  waitSeconds: number
}

/** Adds the repositories of listed nodes that are not among them, of hosts that are asked for stars. */
export const addRepositories = async (sql: Queryable, hosts: readonly string[]): Promise<void> => {
  const pattern = `^(${hosts.map((host) => host.replaceAll('.', '\\.')).join('|')})/[^/]+/[^/]+$`
  await sql`
    insert into repository_stars (key)
    select distinct n.repository_key from node n
    where n.status = 'NodeStatusActive' and n.repository_key ~ ${pattern}
      and not exists (select from repository_stars s where s.key = n.repository_key)
    on conflict do nothing
  `
}

export const listDueRepositories = async (
  sql: Queryable,
  limit: number,
): Promise<DueRepository[]> => [
  ...(await sql<DueRepository[]>`
    select key, etag from repository_stars
    where next_check_at <= clock_timestamp()
    order by next_check_at limit ${limit}
  `),
]

export const recordStars = async (
  sql: Queryable,
  { key, stars, etag, error, waitSeconds }: StarsRecord,
): Promise<void> => {
  await sql`
    update repository_stars
    set stars = coalesce(${stars ?? null}::integer, stars),
      etag = case when ${stars ?? null}::integer is null then etag else ${etag ?? null}::text end,
      error = ${error ?? null},
      checked_at = clock_timestamp(),
      next_check_at = clock_timestamp() + make_interval(secs => ${waitSeconds})
    where key = ${key}
  `
}

/** Asks a host nothing for so many seconds. */
export const restHost = async (sql: Queryable, host: string, seconds: number): Promise<void> => {
  await sql`
    update repository_stars
    set next_check_at = clock_timestamp() + make_interval(secs => ${seconds})
    where key like ${`${host}/%`}
      and next_check_at < clock_timestamp() + make_interval(secs => ${seconds})
  `
}

/** Nodes of one transaction. */
const BATCH = 500

/**
 * Gives nodes the stars of their repositories, but where an admin has set a number. Only nodes with another number
 * change, for whoever keeps a copy of the lists.
 */
export const syncStars = async (sql: Sql): Promise<number> => {
  let changed = 0
  for (;;) {
    const { count } = await unitOfWork({ sql }, async (sql) => {
      const written = await sql`
        with other as (
          select n.id, s.stars
          from node n join repository_stars s on s.key = n.repository_key
          where s.stars <> n.github_stars and n.stars_by_admin is null
            and n.status <> 'NodeStatusDeleted'
          order by n.id limit ${BATCH}
          for no key update of n
        )
        update node n
        set github_stars = other.stars, stars_updated_at = clock_timestamp(),
          updated_at = greatest(clock_timestamp(), n.updated_at), rev = n.rev + 1
        from other where n.id = other.id
      `
      if (written.count > 0) await recordListChange(sql)
      return written
    })
    changed += count
    if (count < BATCH) return changed
  }
}
