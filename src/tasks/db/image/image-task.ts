import type { AnyImageKind } from '../../domain/image/image-kind.ts'
import type { ImageTaskFacts, ImageTaskStatus } from '../../domain/image/image-task.ts'
import type { EngineName } from '../../domain/engine.ts'
import type { Labels } from '../../domain/task-options.ts'
import type { Queryable, Sql } from '../../../platform/db/client.ts'
import { hasLabels, labelsOf } from '../labels.ts'
import { deletedAt, errorOf, warningFacts, resultNames, waitsFor } from '../task-file.ts'
import type { ClaimedTask } from '../task-transition.ts'

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
  t.id, t.status, t.progress, ${deletedAt(sql)} as "deletedAt",
  ${errorOf(sql)} as error,
  ${resultNames(sql)} as results, ${warningFacts(sql)} as warnings, ${labelsOf(sql)} as labels,
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
