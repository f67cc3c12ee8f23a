import type { ImageFamily, ImageTaskKind } from '../domain/image-kind.ts'
import type { ImageTaskStatus } from '../domain/image-task.ts'
import { DELIVERED_STATUSES, IMAGE_TASK_MOVES, TERMINAL_STATUSES } from '../domain/image-task.ts'
import type { Queryable, Sql, Transaction } from './client.ts'
import { insertEvent } from './event.ts'

export interface NewImageTask {
  id: string
  kind: ImageTaskKind
  segment: ImageFamily
  owner: string
  settings: object
  webhookUrl: string | null
  inputs: NewTaskInput[]
}

/** One image of a request: a stored file, or an address that the worker fetches. */
export interface NewTaskInput {
  field: string
  name: string | null
  storageKey: string | null
  url: string | null
  contentType: string | null
  bytes: number | null
  sha256: string | null
  width: number | null
  height: number | null
}

/** Inserts a task in CREATED with its inputs and its first event. */
export const insertImageTask = async (sql: Transaction, task: NewImageTask): Promise<void> => {
  // Sent together: each waits for none of the others' answers. A query begins when it is executed or awaited, and the
  // event comes after its task.
  await Promise.all([
    sql`
    insert into task (id, family, kind, segment, owner, status, settings, webhook_url)
    values (${task.id}, 'image', ${task.kind}, ${task.segment}, ${task.owner}, 'CREATED',
      ${sql.json(task.settings as never)}, ${task.webhookUrl})
  `.execute(),
    sql`
    insert into task_input ${sql(
      task.inputs.map((input) => ({
        task_id: task.id,
        field: input.field,
        name: input.name,
        storage_key: input.storageKey,
        url: input.url,
        content_type: input.contentType,
        bytes: input.bytes,
        sha256: input.sha256,
        width: input.width,
        height: input.height,
      })),
    )}
  `.execute(),
    insertEvent(sql, { taskId: task.id, sequence: 1, status: 'CREATED', deliver: false }),
  ])
}

export interface ImageTaskRow {
  id: string
  kind: ImageTaskKind
  owner: string
  status: ImageTaskStatus
  rev: number
  error: { code: string; message: string } | null
  /** Names of the results, in order. */
  results: string[]
}

/** A task of the owner and of one of the kinds, as readers see it; undefined when there is none. */
export const findImageTask = async (
  sql: Queryable,
  { id, owner, kinds }: { id: string; owner: string; kinds: readonly ImageTaskKind[] },
): Promise<ImageTaskRow | undefined> => {
  const [row] = await sql<ImageTaskRow[]>`
    select t.id, t.kind, t.owner, t.status, t.rev,
      case when t.status = 'FAILED'
        then jsonb_build_object('code', t.error_code, 'message', t.error_message)
      end as error,
      array(select r.name from task_result r where r.task_id = t.id order by r.position) as results
    from task t
    where t.id = ${id} and t.family = 'image' and t.owner = ${owner} and t.kind = any(${[...kinds]})
  `
  return row
}

/** The owner's tasks made under a segment, newest first. */
export const listImageTasks = async (
  sql: Sql,
  {
    owner,
    segment,
    page,
    perPage,
  }: { owner: string; segment: ImageFamily; page: number; perPage: number },
): Promise<{ task_id: string; status: ImageTaskStatus }[]> =>
  await sql`
  select id as task_id, status
  from task
  where owner = ${owner} and segment = ${segment} and family = 'image'
  order by created_at desc, id desc
  limit ${perPage} offset ${(page - 1) * perPage}
`

export interface Move {
  id: string
  to: Exclude<ImageTaskStatus, 'CREATED'>
  /** Only the attempt that holds this fence may move; absent for moves made outside of `render`. */
  fence?: number
  error?: { code: string; message: string }
}

/**
 * Moves a task, together with its event. Returns false when it already is somewhere the move does not start from, or
 * when another attempt holds the fence: a lost race, which is not an error.
 */
export const moveImageTask = async (sql: Transaction, move: Move): Promise<boolean> => {
  const rows = await sql`
    with moved as (
      update task
      set status = ${move.to},
        error_code = ${move.error?.code ?? null},
        error_message = ${move.error?.message ?? null},
        rev = rev + 1,
        last_sequence = last_sequence + 1,
        last_moved_at = greatest(clock_timestamp(), last_moved_at),
        ended_at = case when ${TERMINAL_STATUSES.includes(move.to)}
          then greatest(clock_timestamp(), last_moved_at) end
      where id = ${move.id}
        and family = 'image'
        and status = any(${[...IMAGE_TASK_MOVES[move.to]]})
        and (${move.fence ?? null}::integer is null or fence = ${move.fence ?? null}::integer)
      returning id, last_sequence, status, last_moved_at
    )
    insert into event (task_id, sequence, status, deliver, created_at)
    select id, last_sequence, status, ${DELIVERED_STATUSES.includes(move.to)}::boolean, last_moved_at
    from moved
    returning 1
  `
  return rows.length === 1
}

export interface ClaimedTask {
  id: string
  kind: ImageTaskKind
  settings: object
  fence: number
  failures: number
  /** Seconds since the first attempt claimed the task. */
  age: number
}

/**
 * Claims a task for one attempt at rendering: a new fence, and at the first claim the move to IN_PROGRESS with its event.
 * Undefined when the task has ended.
 */
export const claimImageTask = async (
  sql: Transaction,
  id: string,
): Promise<ClaimedTask | undefined> => {
  const [claimed] = await sql<ClaimedTask[]>`
    update task
    set fence = fence + 1,
      claimed_at = coalesce(claimed_at, greatest(clock_timestamp(), last_moved_at))
    where id = ${id} and family = 'image' and status in ('CREATED', 'IN_PROGRESS')
    returning id, kind, settings, fence, failures,
      extract(epoch from clock_timestamp() - claimed_at)::float8 as age
  `
  if (!claimed) return undefined
  await moveImageTask(sql, { id, to: 'IN_PROGRESS' })
  return claimed
}

/** Counts a failure of engine or store, unless a newer attempt has begun. Returns how many there are now. */
export const countFailure = async (
  sql: Sql,
  { id, fence }: { id: string; fence: number },
): Promise<number | undefined> => {
  const [row] = await sql<{ failures: number }[]>`
    update task set failures = failures + 1
    where id = ${id} and fence = ${fence} and ended_at is null
    returning failures
  `
  return row?.failures
}

/** Whether the attempt with this fence is still the one that may write. */
export const holdsFence = async (
  sql: Sql,
  { id, fence }: { id: string; fence: number },
): Promise<boolean> => {
  const [row] =
    await sql`select from task where id = ${id} and fence = ${fence} and ended_at is null`
  return row !== undefined
}

export interface TaskState {
  status: ImageTaskStatus
  fence: number
}

/** Where a task stands; undefined when there is none. */
export const findTaskState = async (sql: Queryable, id: string): Promise<TaskState | undefined> => {
  const [row] = await sql<TaskState[]>`select status, fence from task where id = ${id}`
  return row
}

export const existsImageTask = async (sql: Sql, id: string): Promise<boolean> => {
  const [row] = await sql`select from task where id = ${id}`
  return row !== undefined
}
