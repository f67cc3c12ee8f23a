import type { MusicSettings } from '../../domain/video/video-defaults.ts'
import type { EngineName } from '../../domain/engine.ts'
import type { VideoTaskFacts } from '../../domain/video/video-record.ts'
import type { VideoTaskKind, VideoTaskState } from '../../domain/video/video-task.ts'
import type { Queryable, Sql } from '../../../platform/db/client.ts'
import { labelsOf } from '../labels.ts'
import { deletedAt, resultNames, waitsFor } from '../task-file.ts'
import type { ClaimedTask } from '../task-transition.ts'

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
  /** Storage key of the finished video; null in every other state, and once the video was removed by age. */
  storageKey: string | null
}

/** Finds the source of an extension by the UUID of a task or of a creation that the owner may read. */
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
