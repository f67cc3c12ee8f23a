import type { Fragment, Queryable } from '../client.ts'

/** The condition that `task t` is one of a batch, where one is named. */
export const isOfBatch = (sql: Queryable, batch: string | undefined): Fragment =>
  batch === undefined
    ? sql``
    : sql`and t.id in (
        select i.task_id from bulk_item i join bulk b on b.id = i.bulk_id
        where b.id = ${batch} and b.kind = 'batch'
      )`

/** The condition that a time lies within bounds: the first is included, the last is not. */
export const isWithin = (
  sql: Queryable,
  time: Fragment,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
): Fragment => sql`
  ${from ? sql`and ${time} >= ${from}` : sql``} ${to ? sql`and ${time} < ${to}` : sql``}
`
