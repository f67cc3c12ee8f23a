import type { Queryable } from './client.ts'

/** Bytes of the tables of one database and of their indexes. */
export interface StoreSize {
  tables: number
  indexes: number
  /** Table that takes most, with its indexes. */
  largest: string
  largest_bytes: number
}

/** Reads the size of a database of Temporal's; its role needs no right to its tables. */
export const readStoreSize = async (sql: Queryable): Promise<StoreSize> => {
  const [size] = await sql<StoreSize[]>`
    with sizes as (
      select relname, pg_table_size(oid) as tables, pg_indexes_size(oid) as indexes
      from pg_class where relkind = 'r' and relnamespace = to_regnamespace('public')
    )
    select coalesce(sum(tables), 0)::float8 as tables, coalesce(sum(indexes), 0)::float8 as indexes,
      coalesce((array_agg(relname::text order by tables + indexes desc))[1], 'none') as largest,
      coalesce(max(tables + indexes), 0)::float8 as largest_bytes
    from sizes
  `
  if (!size) throw new Error('a statement with an aggregate returned no row')
  return size
}
