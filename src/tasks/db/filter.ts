import type { TaskScope } from '../../platform/domain/task-scope.ts'
import type { Fragment, Queryable } from '../../platform/db/client.ts'

/** Bounds of a time: the first is included, the last is not. */
export interface Bounds {
  from?: Date | undefined
  to?: Date | undefined
}

/** The condition that a task is one of a batch, where one is named. */
export const isOfBatch = (
  sql: Queryable,
  batch: string | undefined,
  taskId = sql`t.id`,
): Fragment =>
  batch === undefined
    ? sql``
    : sql`and ${taskId} in (
        select i.task_id from bulk_item i join bulk b on b.id = i.bulk_id
        where b.id = ${batch} and b.kind = 'batch'
      )`

/** The condition that a time lies within bounds. */
export const isWithin = (sql: Queryable, time: Fragment, { from, to }: Bounds): Fragment => sql`
  ${from ? sql`and ${time} >= ${from}` : sql``} ${to ? sql`and ${time} < ${to}` : sql``}
`

/** An anonymous task belongs to whoever knows its id. */
export const mayRead = (sql: Queryable, owner: string) => sql`
  (t.owner = ${owner} or (t.owner = 'anonymous' and t.family = 'video'))
`

/** The condition that task `t` is of some families. */
export const ofFamilies = (sql: Queryable, families: TaskScope['families']) =>
  families ? sql`and t.family = any(${[...families]})` : sql``
