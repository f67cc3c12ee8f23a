import type { AnyImageKind } from '../../domain/image-task/image-kind.ts'
import type { ImageTaskFacts, ImageTaskStatus } from '../../domain/image-task/image-task.ts'
import type { EngineName } from '../../domain/task/engine.ts'
import type { Quota } from '../../domain/task/quota.ts'
import type { Labels, TaskOptions } from '../../domain/task/task-options.ts'
import type { Queryable, Sql, Transaction } from '../client.ts'
import { hasLabels, labelsOf } from '../task/labels.ts'
import { optionColumns, optionValues } from '../task/options.ts'
import { insertEvent } from '../task/task-transition.ts'
import { setLimits } from '../task/account.ts'
import {
  deletedAt,
  insertTaskInputs,
  ownBytes,
  relightFields,
  resultNames,
  waitsFor,
} from '../task/task-file.ts'
import type { NewTaskInput } from '../task/task-file.ts'
import type { ClaimedTask } from '../task/task-transition.ts'

export interface NewImageTask {
  id: string
  kind: AnyImageKind
  segment: string
  /** Row of the template whose graph it keeps; absent of the service's own kinds. */
  templateId?: number | undefined
  owner: string
  settings: object
  webhookUrl: string | null
  /** The local one when absent. */
  engine?: EngineName
  options?: TaskOptions
  inputs: NewTaskInput[]
}

/**
 * Inserts a task in CREATED with its inputs and its first event. The trigger `task_admitted` (0065) admits it, or says why
 * it waits. The commit fails when its account may have no more, by the trigger `task_charged` (0064); `toLimitError` reads
 * that failure.
 */
export const insertImageTask = async (
  sql: Transaction,
  task: NewImageTask,
  quota?: Quota,
): Promise<void> => {
  const { owner: account } = task
  const bytes = ownBytes(task.inputs)
  // Sent together, in this order: none waits for the response to another.
  await Promise.all([
    sql`
    insert into task (id, family, kind, segment, owner, status, settings, webhook_url, account,
      stored_bytes, engine, template_id, ${optionColumns(sql)})
    values (${task.id}, 'image', ${task.kind}, ${task.segment}, ${task.owner}, 'CREATED',
      ${sql.json(task.settings as never)}, ${task.webhookUrl}, ${account}, ${bytes},
      ${task.engine ?? 'local'}, ${task.templateId ?? null}, ${optionValues(sql, task)})
  `.execute(),
    insertTaskInputs(sql, task.id, task.inputs),
    insertEvent(sql, { taskId: task.id, sequence: 1, status: 'CREATED', deliver: false }),
    setLimits(sql, { quota }),
  ])
}

export interface ImageTaskRow extends ImageTaskFacts {
  rev: number
  engine: EngineName
}

/** A task of the owner, of one of the kinds where some are given, as readers see it; undefined when there is none. */
export const findImageTask = async (
  sql: Queryable,
  { id, owner, kinds }: { id: string; owner: string; kinds?: readonly AnyImageKind[] | undefined },
): Promise<ImageTaskRow | undefined> => {
  const [row] = await sql<ImageTaskRow[]>`
    select ${factsOf(sql)}, t.rev, t.engine
    from task t
    where t.id = ${id} and t.family = 'image' and t.owner = ${owner}
      ${kinds ? sql`and t.kind = any(${[...kinds]})` : sql``}
  `
  return row
}

/** Lists what the records of tasks are made from, in any order. The owner does not matter. */
export const listImageFacts = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ImageTaskFacts[]> =>
  await sql<ImageTaskFacts[]>`
  select ${factsOf(sql)}
  from task t
  where t.id = any(${[...ids]}::uuid[]) and t.family = 'image'
`

/** The columns of an `ImageTaskFacts`, from `task t`. */
const factsOf = (sql: Queryable) => sql`
  t.id, t.status, ${deletedAt(sql)} as "deletedAt",
  case when t.status = 'FAILED'
    then jsonb_build_object('code', t.error_code, 'message', t.error_message)
  end as error,
  ${resultNames(sql)} as results, ${relightFields(sql)} as relight, ${labelsOf(sql)} as labels,
  ${waitsFor(sql)} as "waitsFor"
`

/** The owner's tasks made under a segment, newest first. */
export const listImageTasks = async (
  sql: Sql,
  {
    owner,
    segment,
    kinds,
    page,
    perPage,
    labels,
  }: {
    owner: string
    segment: string
    kinds: readonly AnyImageKind[]
    page: number
    perPage: number
    labels?: readonly Labels[]
  },
): Promise<{ task_id: string; status: ImageTaskStatus; deleted_at?: string }[]> => {
  const rows = await sql<{ task_id: string; status: ImageTaskStatus; deletedAt: string | null }[]>`
  select id as task_id, status, ${deletedAt(sql)} as "deletedAt"
  from task t
  where owner = ${owner} and segment = ${segment} and family = 'image'
    and kind = any(${[...kinds]}) ${hasLabels(sql, labels, owner)}
  order by created_at desc, id desc
  limit ${perPage} offset ${(page - 1) * perPage}
`
  return rows.map(({ deletedAt: at, ...task }) => ({ ...task, ...(at && { deleted_at: at }) }))
}

export type ClaimedImageTask = ClaimedTask<AnyImageKind>
