import type { MusicSettings } from '../../domain/video-task/video-defaults.ts'
import type { EngineName } from '../../domain/task/engine.ts'
import type { TaskOptions } from '../../domain/task/task-options.ts'
import type { VideoTaskFacts } from '../../domain/video-task/video-record.ts'
import { videoSegment } from '../../domain/video-task/video-task.ts'
import type { VideoTaskKind, VideoTaskState } from '../../domain/video-task/video-task.ts'
import type { Queryable, Sql, Transaction } from '../client.ts'
import { insertEvent } from '../task/task-transition.ts'
import { labelsOf } from '../task/labels.ts'
import { optionColumns, optionValues } from '../task/options.ts'
import { setLimits, type AccountLimits } from '../task/account.ts'
import { deletedAt, insertTaskInputs, ownBytes, resultNames, waitsFor } from '../task/task-file.ts'
import type { NewTaskInput } from '../task/task-file.ts'
import type { ClaimedTask } from '../task/task-transition.ts'

export interface NewVideoTask {
  id: string
  kind: VideoTaskKind
  owner: string
  /** Whom it counts for. */
  account: string
  /** The request with defaults applied, without `images`, `payload` and `callback_url`, which have places of their own. */
  settings: object
  credits: number
  offPeak: boolean
  /** From the creation of an off-peak task until it fails. */
  offPeakSeconds: number
  payload: string | null
  callbackUrl: string | null
  /** The local one when absent. */
  engine?: EngineName
  options?: TaskOptions
  inputs: readonly NewTaskInput[]
}

/**
 * Inserts a task in created with its inputs and its first event; returns when it was made. By the trigger `task_admitted`
 * (0065) it waits, for a slot at least, until `admitVideos` admits it. The commit charges it, and fails when that passes a
 * limit, by the trigger `task_charged` (0064); `toLimitError` reads that failure.
 */
export const insertVideoTask = async (
  sql: Transaction,
  task: NewVideoTask,
  limits: AccountLimits,
): Promise<Date> => {
  const bytes = ownBytes(task.inputs) + Buffer.byteLength(task.payload ?? '')
  // Sent together, in this order: none waits for the response to another.
  const [[row]] = await Promise.all([
    sql<{ createdAt: Date }[]>`
    insert into task (id, family, kind, segment, owner, status, settings, webhook_url, payload, credits, off_peak,
      off_peak_by, account, stored_bytes, engine, ${optionColumns(sql)})
    values (${task.id}, 'video', ${task.kind}, ${videoSegment(task.kind)}, ${task.owner}, 'created',
      ${sql.json(task.settings as never)}, ${task.callbackUrl}, ${task.payload}, ${task.credits},
      ${task.offPeak},
      case when ${task.offPeak} then clock_timestamp() + make_interval(secs => ${task.offPeakSeconds}) end, ${task.account}, ${bytes}, ${task.engine ?? 'local'}, ${optionValues(sql, task)})
    returning created_at as "createdAt"
  `.execute(),
    insertTaskInputs(sql, task.id, task.inputs),
    insertEvent(sql, { taskId: task.id, sequence: 1, status: 'created', deliver: false }),
    setLimits(sql, limits),
  ])
  if (!row) throw new Error('insert returned no row')
  return row.createdAt
}

/** A task as readers see it. */
export interface VideoTaskRow extends VideoTaskFacts {
  rev: number
  /** Charged and not returned. */
  credits: number
  settings: MusicSettings & { resolution: string }
  createdAt: Date
  engine: EngineName
}

/** The columns of a `VideoTaskRow`, from `task t`. */
export const videoTaskColumns = (sql: Queryable) => sql`
  t.id, t.status as state, t.rev, t.payload, t.off_peak as "offPeak", t.progress,
  t.created_at as "createdAt", t.engine, ${deletedAt(sql)} as "deletedAt",
  ${waitsFor(sql)} as "waitsFor",
  jsonb_build_object('model', t.settings->'model', 'duration', t.settings->'duration',
    'resolution', t.settings->'resolution', 'bgm', t.settings->'bgm',
    'audio', t.settings->'audio') as settings,
  t.credits as charged, case when t.status = 'failed' then 0 else t.credits end as credits,
  case when t.status = 'failed'
    then jsonb_build_object('code', t.error_code, 'message', t.error_message)
  end as error,
  (select jsonb_build_object('id', c.id, 'seconds', c.seconds, 'fps', c.fps, 'width', c.width,
    'height', c.height) from creation c
    where c.task_id = t.id and t.delete_requested_at is null) as creation,
  ${resultNames(sql)} as results, ${labelsOf(sql)} as labels
`

/** Lists what the creations bodies of tasks are made from, in any order. The owner does not matter. */
export const listVideoFacts = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<VideoTaskFacts[]> =>
  await sql<VideoTaskRow[]>`
  select ${videoTaskColumns(sql)}
  from task t
  where t.id = any(${[...ids]}::uuid[]) and t.family = 'video'
`

/** A task that the owner may read: an own one, or an anonymous one, which belongs to whoever knows its id. */
export const findVideoTask = async (
  sql: Queryable,
  { id, owner }: { id: string; owner: string },
): Promise<VideoTaskRow | undefined> => {
  const [row] = await sql<VideoTaskRow[]>`
    select ${videoTaskColumns(sql)}
    from task t
    where t.id = ${id} and t.family = 'video' and t.owner in (${owner}, 'anonymous')
  `
  return row
}

export interface VideoSource {
  state: VideoTaskState
  /** That of the finished video. Null in every other state, and once the video was removed by age. */
  storageKey: string | null
}

/** Finds the source of an extension by the UUID of a task or of a creation, among those that the owner may read. */
export const findVideoSource = async (
  sql: Queryable,
  { id, owner }: { id: string; owner: string },
): Promise<VideoSource | undefined> => {
  const [row] = await sql<VideoSource[]>`
    select t.status as state,
      (select r.storage_key from task_result r
        where r.task_id = t.id and r.name = 'video.mp4' and t.purged_at is null
          and t.delete_requested_at is null) as "storageKey"
    from task t
    where t.id in (select ${id}::uuid union all select task_id from creation where id = ${id}::uuid)
      and t.family = 'video' and t.owner in (${owner}, 'anonymous')
  `
  return row
}

/** Records the progress of the attempt that holds the fence; false: no change. It never falls; 100 needs success. */
export const recordProgress = async (
  sql: Sql,
  { id, fence, percent }: { id: string; fence: number; percent: number },
): Promise<boolean> => {
  const progress = Math.min(99, Math.floor(percent))
  const { count } = await sql`
    update task set progress = ${progress}, rev = rev + 1
    where id = ${id} and fence = ${fence} and status = 'processing' and progress < ${progress}
  `
  return count > 0
}

export type ClaimedVideoTask = ClaimedTask<VideoTaskKind>
