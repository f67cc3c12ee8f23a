import type { TaskOptions } from '../domain/task-options.ts'
import type { Fragment, Queryable, Transaction } from '../../platform/db/client.ts'
import { parseListTime } from '../../platform/domain/time-bounds.ts'
import { labelsOf, storedLabels } from './labels.ts'

/** Columns of what a caller may say of a task beside its settings; `optionValues` has their values. */
export const optionColumns = (sql: Queryable): Fragment =>
  sql`start_after, labels, priority, start_within, end_within, start_by, end_by, retention_seconds, batch_id, run_again_of, output`

/** So many seconds behind the time from which deadlines count: that from which the task may start, else its creation. */
export const after = (
  sql: Transaction,
  seconds: number | null,
  { startAfter }: Pick<TaskOptions, 'startAfter'>,
): Fragment =>
  sql`greatest(${startOf(sql, startAfter)}, clock_timestamp()) + make_interval(secs => ${seconds}::integer)`

const startOf = (sql: Transaction, startAfter: TaskOptions['startAfter']): Fragment => {
  if (typeof startAfter === 'string') return sql`${parseListTime(startAfter)}::timestamptz`
  return sql`clock_timestamp() + make_interval(secs => ${startAfter}::integer)`
}

export const optionValues = (
  sql: Transaction,
  { owner, options }: { owner: string; options?: TaskOptions | undefined },
): Fragment => {
  const { labels = null, priority = 0, startWithin = null, endWithin = null } = options ?? {}
  const from = { startAfter: options?.startAfter ?? null }
  return sql`${startOf(sql, from.startAfter)}, ${labels && sql.json(storedLabels(labels, owner))}, ${priority}, ${startWithin}, ${endWithin},
    ${after(sql, startWithin, from)}, ${after(sql, endWithin, from)},
    ${options?.retentionSeconds ?? null}, ${options?.batchId ?? null}, ${options?.runAgainOf ?? null},
    ${options?.output ? sql.json(options.output as never) : null}`
}

/** The options of `task t`, as a `TaskOptions`. */
export const optionsOf = (sql: Queryable): Fragment => sql`
  jsonb_build_object('labels', ${labelsOf(sql)}, 'priority', t.priority, 'startWithin', t.start_within,
    'endWithin', t.end_within, 'retentionSeconds', t.retention_seconds, 'output', t.output)
`
