import type { Sql } from './client.ts'
import { videoTaskColumns } from './video-task.ts'
import type { VideoTaskRow } from './video-task.ts'

/** Which tasks of an owner a list shows. An empty list of a filter is no filter. */
export interface VideoListFilter {
  owner: string
  from: Date
  /** Tasks made before this time; absent: all. */
  to?: Date
  ids: readonly string[]
  states: readonly string[]
  models: readonly string[]
  resolutions: readonly string[]
  limit: number
  /** Tasks that are passed over; with a page by number only. */
  offset: number
  /** Only tasks after this one in the order of the list. */
  after?: VideoListPlace
}

/** A task's place in a list. */
export interface VideoListPlace {
  /** Microseconds since 1970: the precision of the stored time, which a `Date` would cut. */
  createdAtUs: string
  id: string
}

export type ListedVideoTask = VideoTaskRow & { createdAtUs: string }

/** The owner's tasks, newest first. */
export const listVideoTasks = async (
  sql: Sql,
  { owner, from, to, ids, states, models, resolutions, limit, offset, after }: VideoListFilter,
): Promise<ListedVideoTask[]> =>
  await sql<ListedVideoTask[]>`
  select ${videoTaskColumns(sql)},
    (extract(epoch from t.created_at) * 1000000)::bigint::text as "createdAtUs"
  from task t
  where t.owner = ${owner} and t.family = 'video'
    and t.created_at >= ${from}
    ${to ? sql`and t.created_at < ${to}` : sql``}
    ${ids.length > 0 ? sql`and t.id = any(${[...ids]}::uuid[])` : sql``}
    ${states.length > 0 ? sql`and t.status = any(${[...states]})` : sql``}
    ${models.length > 0 ? sql`and t.settings->>'model' = any(${[...models]})` : sql``}
    ${resolutions.length > 0 ? sql`and t.settings->>'resolution' = any(${[...resolutions]})` : sql``}
    ${
      after
        ? sql`and (t.created_at, t.id) < (
            timestamptz 'epoch' + ${after.createdAtUs}::bigint * interval '1 microsecond', ${after.id}::uuid)`
        : sql``
    }
  order by t.created_at desc, t.id desc
  limit ${limit} offset ${offset}
`
