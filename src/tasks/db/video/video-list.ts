import type { Labels } from '../../domain/task-options.ts'
import type { Sql } from '../../../platform/db/client.ts'
import { hasLabels } from '../labels.ts'
import { createdAtUs, placeOf, type TaskPlace } from '../task-place.ts'
import { videoTaskColumns, type VideoTaskRow } from './video-task.ts'

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
  labels?: readonly Labels[]
  limit: number
  /** Tasks that are passed over; with a page by number only. */
  offset: number
  /** Only tasks after this one in the order of the list. */
  after?: TaskPlace
}

export interface ListedVideoTask extends VideoTaskRow {
  createdAtUs: string
  /** Tasks that were found within the limit. A page with large payloads holds only the first of them. */
  found: number
}

/** Most bytes of payloads in a page as its JSON writes them: escaped, a character may take six. */
const PAGE_PAYLOAD_BYTES = 4 * 2 ** 20

/**
 * The owner's tasks, newest first. Large payloads make it fewer than the limit, but at least one. Their stored lengths
 * come first, because those are known without a payload being read.
 */
export const listVideoTasks = async (
  sql: Sql,
  {
    owner,
    from,
    to,
    ids,
    states,
    models,
    resolutions,
    labels,
    limit,
    offset,
    after,
  }: VideoListFilter,
): Promise<ListedVideoTask[]> =>
  await sql<ListedVideoTask[]>`
  with found as materialized (
    select t.*,
      row_number() over newest as place,
      sum(coalesce(octet_length(t.payload), 0)) over newest as kept_bytes,
      count(*) over () as found
    from (
      select * from task t
      where owner = ${owner} and family = 'video'
        and created_at >= ${from}
        ${to ? sql`and created_at < ${to}` : sql``}
        ${ids.length > 0 ? sql`and id = any(${[...ids]}::uuid[])` : sql``}
        ${states.length > 0 ? sql`and status = any(${[...states]})` : sql``}
        ${models.length > 0 ? sql`and settings->>'model' = any(${[...models]})` : sql``}
        ${resolutions.length > 0 ? sql`and settings->>'resolution' = any(${[...resolutions]})` : sql``}
        ${hasLabels(sql, labels, owner)}
        ${after ? sql`and (created_at, id) < (${placeOf(sql, after)})` : sql``}
      order by created_at desc, id desc
      limit ${limit} offset ${offset}
    ) t
    window newest as (order by t.created_at desc, t.id desc)
  ), page as (
    select t.*,
      sum(coalesce(octet_length(to_json(t.payload)::text), 0)) over (order by t.place) as bytes
    from found t
    where t.kept_bytes <= ${PAGE_PAYLOAD_BYTES} or t.place = 1
  )
  select ${videoTaskColumns(sql)}, t.found::integer as found,
    ${createdAtUs(sql)}
  from page t
  where t.bytes <= ${PAGE_PAYLOAD_BYTES} or t.place = 1
  order by t.created_at desc, t.id desc
`
