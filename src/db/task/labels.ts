import type { Labels } from '../../domain/task/task-options.ts'
import type { Fragment, Queryable } from '../client.ts'

/** Name under which the labels of a task have its owner, so that `task_by_label` finds those of one. */
const OWNER = ''

/** Makes the value of the column. */
export const storedLabels = (labels: Labels | null, owner: string): Labels | null =>
  labels && { ...labels, [OWNER]: owner }

/** The labels of `task t` as its caller gave them; null without any. */
export const labelsOf = (sql: Queryable): Fragment => sql`t.labels - ${OWNER}::text`

/** The condition that `task t` has all of these labels. @param owner absent: of any */
export const hasLabels = (
  sql: Queryable,
  labels: readonly Labels[] = [],
  owner?: string,
): Fragment =>
  labels
    .map((label) => ({ ...label, ...(owner !== undefined && { [OWNER]: owner }) }))
    .reduce((all, label) => sql`${all} and t.labels @> ${sql.json(label)}`, sql``)
