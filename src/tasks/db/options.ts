import type { TaskOptions } from '../domain/task-options.ts'
import type { Fragment, Queryable, Transaction } from '../../platform/db/client.ts'
import { labelsOf, storedLabels } from './labels.ts'

/** Columns of what a caller may say of a task beside its settings; `optionValues` has their values. */
export const optionColumns = (sql: Queryable): Fragment =>
  sql`labels, priority, start_within, end_within, start_by, end_by, retention_seconds, batch_id, run_again_of, output`

const after = (sql: Transaction, seconds: number | null): Fragment =>
  sql`clock_timestamp() + make_interval(secs => ${seconds}::integer)`

export const optionValues = (
  sql: Transaction,
  { owner, options }: { owner: string; options?: TaskOptions | undefined },
): Fragment => {
  const { labels = null, priority = 0, startWithin = null, endWithin = null } = options ?? {}
  return sql`${labels && sql.json(storedLabels(labels, owner))}, ${priority}, ${startWithin}, ${endWithin},
    ${after(sql, startWithin)}, ${after(sql, endWithin)},
    ${options?.retentionSeconds ?? null}, ${options?.batchId ?? null}, ${options?.runAgainOf ?? null},
    ${options?.output ? sql.json(options.output as never) : null}`
}

/** The options of `task t`, as a `TaskOptions`. */
export const optionsOf = (sql: Queryable): Fragment => sql`
  jsonb_build_object('labels', ${labelsOf(sql)}, 'priority', t.priority, 'startWithin', t.start_within,
    'endWithin', t.end_within, 'retentionSeconds', t.retention_seconds, 'output', t.output)
`
