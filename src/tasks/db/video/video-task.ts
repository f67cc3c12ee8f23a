import type { MusicSettings } from '../../domain/video/video-defaults.ts'
import type { EngineName } from '../../domain/engine.ts'
import type { VideoTaskFacts } from '../../domain/video/video-record.ts'
import type { VideoTaskKind, VideoTaskState } from '../../domain/video/video-task.ts'
import type { Queryable } from '../../../platform/db/client.ts'
import { labelsOf } from '../labels.ts'
import { deletedAt, errorOf, resultNames, waitsFor } from '../task-file.ts'
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
  ${errorOf(sql)} as error,
  (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name, 'seconds', c.seconds,
    'fps', c.fps, 'width', c.width, 'height', c.height) order by r.position), '[]')
    from creation c join task_result r on r.task_id = c.task_id and r.name = c.name
    where c.task_id = t.id and t.delete_requested_at is null) as creations,
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
        where r.task_id = t.id and r.name = source.name and t.purged_at is null
          and t.delete_requested_at is null) as "storageKey"
    from (select ${id}::uuid as task_id, 'video.mp4' as name
      union all select task_id, name from creation where id = ${id}::uuid) source
    join task t on t.id = source.task_id
    where t.family = 'video' and t.owner in (${owner}, 'anonymous')
  `
  return row
}

export type ClaimedVideoTask = ClaimedTask<VideoTaskKind>
