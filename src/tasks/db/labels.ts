import { isLabelled, type Labels } from '../domain/task-options.ts'
import type { Fragment, Queryable } from '../../platform/db/client.ts'

/** Name under which the labels of a task have its owner, so that `task_by_label` finds the labels of one owner. */
const OWNER = ''

/** Makes the value of the column. */
export const storedLabels = (labels: Labels, owner: string): Labels => ({
  ...labels,
  [OWNER]: owner,
})

/** The labels of `task t` as its caller gave them; null without any. Nothing else reads the column: a test finds it. */
export const labelsOf = (sql: Queryable): Fragment => sql`t.labels - ${OWNER}::text`

/** The condition that `task t` has all of these labels, found by the index. @param owner absent: of any */
export const hasLabels = (
  sql: Queryable,
  labels: readonly Labels[] = [],
  owner?: string,
): Fragment => {
  if (labels.length === 0) return sql``
  const all: Labels = Object.assign({}, ...labels)
  const stored = owner === undefined ? all : storedLabels(all, owner)
  // A label has one value.
  return sql`and t.labels @> ${sql.json(stored)} and ${isLabelled(all, labels)}::boolean`
}

/** The same for tasks that are walked through in an order. It hides the index of labels. */
export const matchLabels = (sql: Queryable, labels: readonly Labels[] = []): Fragment => {
  if (labels.length === 0) return sql``
  const all: Labels = Object.assign({}, ...labels)
  return sql`and coalesce(t.labels, '{}') @> ${sql.json(all)} and ${isLabelled(all, labels)}::boolean`
}
