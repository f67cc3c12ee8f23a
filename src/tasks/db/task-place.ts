import type { Fragment, Queryable } from '../../platform/db/client.ts'

/** A place in a list that is newest first: a task, and of a list of events the sequence within it. */
export interface TaskPlace {
  /** Microseconds since 1970: the precision of the stored time, which a `Date` would cut. */
  createdAtUs: string
  id: string
  sequence?: string
}

/** Selects `createdAtUs` of `task t`. */
export const createdAtUs = (sql: Queryable): Fragment =>
  sql`(extract(epoch from t.created_at) * 1000000)::bigint::text as "createdAtUs"`

/** Builds the values that `(created_at, id)` of a task is compared with. */
export const placeOf = (sql: Queryable, { createdAtUs, id }: TaskPlace): Fragment =>
  sql`timestamptz 'epoch' + ${createdAtUs}::bigint * interval '1 microsecond', ${id}::uuid`
