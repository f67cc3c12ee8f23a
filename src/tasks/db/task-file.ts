import { errors } from '../../platform/domain/errors.ts'
import type { Fragment, Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import { addStoredBytes } from './account.ts'

export interface TaskInput {
  field: string
  storageKey: string | null
  url: string | null
  /** Known for inline images only. */
  width: number | null
  height: number | null
  /** Number of them in an animation; null of any other, and while nobody has looked. */
  frames: number | null
}

/** One file or address that a request names. */
export interface NewTaskInput extends TaskInput {
  /** The name it is served under; null unless it came with the request. */
  name: string | null
  contentType: string | null
  bytes: number | null
  sha256: string | null
}

/** Bytes of the inputs that came with the request. A link's bytes count for the task or upload that has them. */
export const ownBytes = (inputs: readonly NewTaskInput[]): number =>
  inputs.reduce((sum, { name, bytes }) => sum + (name === null ? 0 : (bytes ?? 0)), 0)

/** Inserts what a task is made from: a stored file, or an address that the worker fetches. */
export const insertTaskInputs = async (
  sql: Transaction,
  taskId: string,
  inputs: readonly NewTaskInput[],
): Promise<void> => {
  if (inputs.length === 0) return
  const inserted = sql`
    insert into task_input ${sql(
      inputs.map((input) => ({
        task_id: taskId,
        field: input.field,
        name: input.name,
        storage_key: input.storageKey,
        url: input.url,
        content_type: input.contentType,
        bytes: input.bytes,
        sha256: input.sha256,
        width: input.width,
        height: input.height,
        frames: input.frames,
      })),
    )}
  `.execute()
  const uploads = inputs.filter(({ storageKey }) => storageKey?.startsWith('uploads/'))
  await Promise.all([inserted, ...uploads.map((input) => holdUpload(sql, input))])
}

/** Locks the upload of an input until the commit, so that a PUT does not replace the file unseen. Throws 400. */
const holdUpload = async (sql: Transaction, { field, storageKey }: NewTaskInput): Promise<void> => {
  const [upload] = await sql`
    select from upload
    where id = split_part(${storageKey}, '/', 2)::uuid and storage_key = ${storageKey}
    for share
  `
  if (!upload) throw errors.fileReplaced(field)
}

/**
 * The name an input is served under. An input that did not come with the request has no name of its own, and only an
 * upstream is given links to it.
 */
export const servedName = (sql: Queryable) => sql`
  coalesce(name, 'input-' || field || coalesce(substring(storage_key from '[.][a-z0-9]+$'), ''))
`

/** Lists the inputs of a task, in the order of the fields' names. */
export const listTaskInputs = async (
  sql: Sql,
  taskId: string,
): Promise<(TaskInput & { servedName: string })[]> =>
  await sql`
  select field, storage_key as "storageKey", url, width, height, frames, ${servedName(sql)} as "servedName"
  from task_input
  where task_id = ${taskId}
  order by field
`

/** Records where a fetched input was stored, so that a retry does not fetch it again. */
export const storeFetchedInput = async (
  sql: Sql,
  { taskId, field, storageKey, bytes, sha256 }: FetchedInput,
): Promise<void> => {
  await sql`
    update task_input
    set storage_key = ${storageKey}, bytes = ${bytes}, sha256 = ${sha256}
    where task_id = ${taskId} and field = ${field} and storage_key is null
  `
}

/** Records that an input is an animation. */
export const recordFrames = async (
  sql: Sql,
  { taskId, field, frames }: { taskId: string; field: string; frames: number },
): Promise<void> => {
  await sql`update task_input set frames = ${frames} where task_id = ${taskId} and field = ${field}`
}

export interface FetchedInput {
  taskId: string
  field: string
  storageKey: string
  bytes: number
  sha256: string
}

export interface TaskResult {
  name: string
  storageKey: string
  contentType: string
  bytes: number
  sha256: string
  /** Null of what cannot be seen. */
  width: number | null
  height: number | null
}

/** A small picture of a result, in the store. */
export interface Thumbnail {
  storageKey: string
  bytes: number
}

/** Records the results of a task, in the transaction of its move to COMPLETED. */
export const insertTaskResults = async (
  sql: Transaction,
  taskId: string,
  { results, thumbnail }: { results: readonly TaskResult[]; thumbnail?: Thumbnail },
): Promise<void> => {
  const bytes = results.reduce((sum, { bytes }) => sum + bytes, thumbnail?.bytes ?? 0)
  const inserted = sql`
    insert into task_result ${sql(
      results.map((result, index) => ({
        task_id: taskId,
        position: index + 1,
        name: result.name,
        storage_key: result.storageKey,
        content_type: result.contentType,
        bytes: result.bytes,
        sha256: result.sha256,
        width: result.width,
        height: result.height,
      })),
    )}
  `.execute()
  await Promise.all([
    inserted,
    addStoredBytes(sql, taskId, { bytes, thumbnail: thumbnail?.storageKey }),
  ])
}

/** When the owner of `task t` deleted it. */
export const deletedAt = (sql: Queryable): Fragment => instant(sql, sql`t.delete_requested_at`)

/** Reasons why `task t` waits, by the function `wait_reasons` (0096); null when it does not wait. */
export const waitsFor = (sql: Queryable): Fragment => sql`
  case when t.ended_at is not null then null
    when t.waits_on is null and t.claimed_at is not null then t.waits_for
    else wait_reasons(t.id, t.engine, t.family, t.kind, t.owner, t.waits_on, t.waits_for, t.claimed_at, t.last_moved_at)
  end
`

/**
 * Error of `task t`, with what its engine said where callers may read that; else the message says who reads it. Null without
 * an error.
 */
export const errorOf = (sql: Queryable): Fragment => sql`
  case when t.error_code is not null then jsonb_strip_nulls(jsonb_build_object('code', t.error_code,
    'message', t.error_message || case when t.engine_error is not null and not t.engine_error_shown
      and t.error_code in ('engine_failed', 'engine_crashed', 'upstream_failed',
        'upstream_unauthorized', 'upstream_no_credits', 'upstream_lost', 'InternalServiceFailure')
      then ' Operators read why by kiln operate explain ' || t.id || ', or on its page in the console.'
      else '' end,
    'engine_error', case when t.engine_error_shown then t.engine_error end)) end
`

/** Names of the results of `task t`, in order; none of a deleted one. */
export const resultNames = (sql: Queryable): Fragment => sql`
  array(select r.name from task_result r
    where r.task_id = t.id and t.delete_requested_at is null order by r.position)
`

/** A `WarningFacts` of `task t`: of an image that the local engine makes, or of whose results the request says how they are encoded. */
export const warningFacts = (sql: Queryable): Fragment => sql`
  case when t.family <> 'image' or t.delete_requested_at is not null then null
    else case when t.engine = 'local' then (select jsonb_build_object(
        'relight', case when t.kind = 'relight' then t.settings || coalesce(jsonb_object_agg(i.field, true)
          filter (where i.field is not null), '{}') end,
        'frames', jsonb_object_agg(i.field, i.frames) filter (where i.frames > 1))
      from task_input i where i.task_id = t.id) else '{}' end
    || case when t.output is not null then (select jsonb_build_object(
        'unformatted', jsonb_object_agg(r.name, split_part(r.content_type, ';', 1))
          filter (where t.output ? 'format' and r.content_type not like 'image/%'),
        'lossless', jsonb_agg(r.name order by r.position)
          filter (where t.output ? 'quality' and r.content_type = 'image/png'))
      from task_result r where r.task_id = t.id) else '{}' end
  end
`

/** Lists the storage keys of inputs that were fetched from an address, and whether the task is to be deleted. */
export const listFetchedInputs = async (sql: Sql, taskId: string) => {
  const [row] = await sql<{ fetched: string[]; isDeleted: boolean }[]>`
    select t.delete_requested_at is not null as "isDeleted",
      array(select storage_key from task_input i
        where i.task_id = t.id and url is not null
          and storage_key like 'inputs/' || t.id || '/%') as fetched
    from task t where t.id = ${taskId}
  `
  return row ?? { fetched: [], isDeleted: false }
}
