import { IMAGE_KINDS } from '../domain/image/image-kind.ts'
import { CUSTOM_SEGMENT, customName } from '../domain/custom-kind.ts'
import { OPEN_STATES } from '../domain/task-item.ts'
import type { TaskItem, TaskKind, TaskQuery, TaskState, TaskSummary } from '../domain/task-item.ts'
import type { SentEvent } from '../domain/task-event.ts'
import { readLabelFilter, type Labels } from '../domain/task-options.ts'
import type { OwnTasks, TaskScope } from '../../platform/domain/task-scope.ts'
import { readBounds } from '../../platform/domain/time-bounds.ts'
import { VideoTaskKind, videoSegment } from '../domain/video/video-task.ts'
import type { Fragment, Queryable, Sql } from '../../platform/db/client.ts'
import { instant } from '../../platform/db/instant.ts'
import {
  hasDeliveryIn,
  isDeliveryPaused,
  showSent,
  subscriptionsOf,
  type SentTimes,
} from './event-log.ts'
import { isOfBatch, isWithin, ofFamilies, type Bounds } from './filter.ts'
import { hasLabels, labelsOf, matchLabels } from './labels.ts'
import { deletedAt, errorOf, waitsFor } from './task-file.ts'
import { createdAtUs, placeOf, type TaskPlace } from './task-place.ts'

/** Which tasks are walked through, newest first. */
interface Walk extends TaskScope, Bounds {
  kinds?: readonly TaskKind[] | undefined
  after?: TaskPlace | undefined
  /** Only tasks that have not ended. */
  isOpen?: boolean | undefined
  labels?: readonly Labels[] | undefined
  batch?: string | undefined
  /** So few have the labels that an index finds them. */
  isRare?: boolean
}

export interface TaskFilter extends Walk {
  states?: readonly TaskState[] | undefined
  /** A part of the prompt. */
  term?: string | undefined
  limit: number
}

/** Converts the filters of a query. */
export const readTaskQuery = ({
  kind,
  state,
  q,
  label,
  batch_id: batch,
  ...bounds
}: Partial<Omit<TaskQuery, 'limit' | 'after'>>) => ({
  ...readBounds(bounds),
  kinds: kind,
  states: state,
  term: q,
  labels: label && readLabelFilter(label),
  batch,
})

/** A task as lists show it, but for what the service alone can say. */
export interface TaskRow {
  item: Omit<TaskItem, 'path' | 'thumbnail_url' | 'owner' | 'waits_for'>
  id: string
  owner: string
  segment: string
  hasThumbnail: boolean
  /** Reasons of machines that do not take it; null unless it waits for one. */
  waitsFor: string[] | null
  createdAtUs: string
  movedAt: Date
}

/** Tasks that one page looks at: a rare match far down comes with a later page, and each page is fast. */
const MAX_SEEN = 20_000

/** Segment of each kind that has one of its own. */
const SEGMENTS: [segment: string, kind: TaskKind][] = [
  ...Object.values(IMAGE_KINDS).map(({ segment, kind }): [string, TaskKind] => [segment, kind]),
  ...VideoTaskKind.enum.map((kind): [string, TaskKind] => [videoSegment(kind), kind]),
]
const VIDEO_SEGMENTS = new Set(VideoTaskKind.enum.map(videoSegment))

const segmentsOf = ({ kinds, families }: Pick<Walk, 'kinds' | 'families'>): string[] =>
  [
    ...new Set(
      SEGMENTS.flatMap(([segment, kind]) => ((kinds?.includes(kind) ?? true) ? segment : [])),
    ),
    ...((kinds?.some((kind) => customName(kind) !== undefined) ?? true) ? [CUSTOM_SEGMENT] : []),
  ].filter((name) => families?.includes(VIDEO_SEGMENTS.has(name) ? 'video' : 'image') ?? true)

/**
 * The tasks of a walk, newest first, at most so many, or all. An owner's tasks are merged from its lists by segment. An
 * index has each list in order: docs/decisions.md, Search and lists.
 */
const walk = (
  sql: Queryable,
  { owner, families, kinds, batch, ...rest }: Walk,
  max?: number,
): Fragment => {
  if (batch !== undefined || (rest.isRare && rest.labels)) {
    const ofOwner = owner === undefined ? sql`` : sql`and t.owner = ${owner}`
    const which =
      batch === undefined
        ? hasLabels(sql, rest.labels, owner)
        : sql`${isOfBatch(sql, batch)} ${ofOwner}`
    const found = sql`(select * from task t where true ${which} offset 0)`
    return listOf(sql, { ...rest, max }, ofFamilies(sql, families), found)
  }
  if (owner === undefined) return listOf(sql, { ...rest, max }, ofFamilies(sql, families))
  const segments = segmentsOf({ kinds, families })
  if (segments.length === 0) return sql`select * from task where false`
  const merged = segments
    .map((segment) => sql`and t.owner = ${owner} and t.segment = ${segment}`)
    .map((where) => sql`(${listOf(sql, { ...rest, max }, where)})`)
    .reduce((all, list) => sql`${all} union all ${list}`)
  return sql`select * from (${merged}) t order by t.created_at desc, t.id desc ${limitTo(sql, max)}`
}

const limitTo = (sql: Queryable, max: number | undefined): Fragment =>
  max === undefined ? sql`` : sql`limit ${max}`

const listOf = (
  sql: Queryable,
  {
    after,
    isOpen,
    max,
    ...bounds
  }: Omit<Walk, 'kinds' | 'labels' | 'batch' | keyof TaskScope> & { max: number | undefined },
  where: Fragment,
  tasks = sql`task`,
): Fragment => sql`
  select * from ${tasks} t
  where true ${where}
    ${isOpen ? sql`and t.ended_at is null` : sql``}
    ${isWithin(sql, sql`t.created_at`, bounds)}
    ${after ? sql`and (t.created_at, t.id) ${after.sequence ? sql`<=` : sql`<`} (${placeOf(sql, after)})` : sql``}
  order by t.created_at desc, t.id desc
  ${limitTo(sql, max)}
`

/** The condition that `task t` can be cancelled, or has ended. */
export const isCancellable = (sql: Queryable): Fragment => sql`
  case when t.family = 'video' then t.status in ('created', 'queueing') else t.ended_at is null end
`

/** The beginning of the prompt of `task t`. */
const promptOf = (sql: Queryable): Fragment => sql`nullif(left(t.settings->>'prompt', 200), '')`

/** The columns of a `TaskRow`, from `task t`. */
export const taskColumns = (sql: Queryable): Fragment => sql`
  t.id, t.owner, t.segment, t.last_moved_at as "movedAt", ${createdAtUs(sql)},
  ${waitsFor(sql)} as "waitsFor",
  t.thumbnail is not null and t.purged_at is null and t.delete_requested_at is null as "hasThumbnail",
  jsonb_strip_nulls(jsonb_build_object('task_id', t.id, 'kind', t.kind, 'family', t.family,
    'state', current_state(t.status, t.error_code, t.waits_on), 'status', t.status, 'rev', t.rev,
    'created_at', ${instant(sql, sql`t.created_at`)}, 'started_at', ${instant(sql, sql`coalesce((t.attempts->0->>'at')::timestamptz, t.claimed_at)`)},
    'ended_at', ${instant(sql, sql`t.ended_at`)}, 'deleted_at', ${deletedAt(sql)},
    'progress', case when t.status = 'COMPLETED' then 100 else t.progress end,
    'prompt', ${promptOf(sql)},
    'engine', coalesce(t.settings->>'model', t.settings->>'engine', t.settings->'advanced_settings'->>'engine'),
    'credits', case when t.status = 'failed' then 0 else t.credits end,
    'labels', ${labelsOf(sql)}, 'priority', nullif(t.priority, 0),
    'run_again_of', t.run_again_of, 'start_after', ${instant(sql, sql`t.start_after`)},
    'error', ${errorOf(sql)},
    'cancellable', ${isCancellable(sql)})) as item
`

/** Labelled tasks that are sorted for each page: as many as a page looks at. Of more, the walk meets one soon. */
const MAX_SORTED = MAX_SEEN

/** True when so few tasks have all labels of a filter that they are found by those and not by their age. */
const isRare = async (
  sql: Sql,
  { labels = [], owner, batch }: Pick<Walk, 'labels' | 'owner' | 'batch'>,
): Promise<boolean> => {
  if (labels.length === 0 || batch !== undefined) return false
  const [row] = await sql<{ found: number }[]>`
    select count(*)::integer as found from (
      select from task t where true ${hasLabels(sql, labels, owner)} limit ${MAX_SORTED + 1}
    ) t
  `
  return (row?.found ?? 0) <= MAX_SORTED
}

export interface Page<Row> {
  rows: Row[]
  next?: TaskPlace
}

/** The condition that a task of a walk is one that a filter finds. */
const isMatch = (
  sql: Queryable,
  { kinds, states, term, labels }: Omit<TaskFilter, 'limit'>,
): Fragment => sql`
  true ${matchLabels(sql, labels)}
  ${kinds ? sql`and t.kind = any(${[...kinds]})` : sql``}
  ${states ? sql`and current_state(t.status, t.error_code, t.waits_on) = any(${[...states]})` : sql``}
  ${term === undefined ? sql`` : sql`and strpos(lower(t.settings->>'prompt'), lower(${term})) > 0`}
`

const isOpenOnly = ({ states }: Pick<TaskFilter, 'states'>): boolean | undefined =>
  states?.every((state) => OPEN_STATES.includes(state))

/** Selects all tasks that a filter finds. */
export const selectTasks = (sql: Queryable, filter: Omit<TaskFilter, 'limit'>): Fragment => {
  const { labels = [] } = filter
  const seen = { ...filter, isOpen: isOpenOnly(filter), isRare: labels.length > 0 }
  return sql`select * from (${walk(sql, seen)}) t where ${isMatch(sql, seen)}`
}

/** One page of tasks, newest first. It may hold fewer than the limit although there is a next one. */
export const listTasks = async (sql: Sql, filter: TaskFilter): Promise<Page<TaskRow>> => {
  const { kinds, states, term, labels, limit } = filter
  const seen = { ...filter, isOpen: isOpenOnly(filter), isRare: await isRare(sql, filter) }
  const rows = await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from (${walk(sql, seen, MAX_SEEN)}) t
    where ${isMatch(sql, seen)}
    order by t.created_at desc, t.id desc
    limit ${limit + 1}
  `
  // Without a filter the walk ends where the rows do, long before it has seen too many.
  const isWhole = !kinds && !states && term === undefined && (!labels || seen.isRare)
  if (isWhole && rows.length <= limit) return { rows: [...rows] }
  return await toPage(sql, { rows, seen, limit })
}

/** Makes the page without the row that only announces a next one; without that row, the end of the walk decides. */
const toPage = async <Row extends TaskPlace>(
  sql: Sql,
  { rows, seen, limit }: { rows: Row[]; seen: Walk; limit: number },
): Promise<Page<Row>> => {
  if (rows.length > limit) {
    const page = rows.slice(0, limit)
    return { rows: page, next: page.at(-1) as Row }
  }
  const [end] = await sql<TaskPlace[]>`
    select t.id, ${createdAtUs(sql)} from (${walk(sql, seen, MAX_SEEN)}) t
    order by t.created_at desc, t.id desc
    offset ${MAX_SEEN - 1} limit 1
  `
  return { rows, ...(end && { next: end }) }
}

/** Tasks of an owner by their ids that a filter finds, in the order of their last moves. */
export const listTaskRows = async (
  sql: Sql,
  { owner, ids, ...filter }: Omit<TaskFilter, 'limit'> & { owner: string; ids: readonly string[] },
): Promise<TaskRow[]> =>
  await sql<TaskRow[]>`
  select ${taskColumns(sql)} from task t
  where t.id = any(${[...ids]}::uuid[]) and t.owner = ${owner} and ${isMatch(sql, filter)}
    ${isOfBatch(sql, filter.batch)} ${isWithin(sql, sql`t.created_at`, filter)}
  order by t.last_moved_at, t.id
`

/** Newest tasks of an owner that a stream of all of them reports. */
export const MAX_FOLLOWED = 200

/** Lists the revisions of tasks with these ids, of the newest tasks, and of tasks that have moved since a time. */
export const listRevisions = async (
  sql: Sql,
  { ids, since, ...scope }: TaskScope & { ids: readonly string[]; since?: Date | undefined },
): Promise<{ id: string; rev: number }[]> =>
  await sql<{ id: string; rev: number }[]>`
  select id, rev from task where id = any(${[...ids]}::uuid[])
  union select id, rev from (${walk(sql, scope, MAX_FOLLOWED)}) t
  ${since ? sql`union select id, rev from (${walk(sql, scope, MAX_COUNTED)}) t where last_moved_at >= ${since}` : sql``}
`

/** Tasks that a summary counts. */
const MAX_COUNTED = 10_000

/** Counts the tasks of an owner by state, and its events that reached nobody. */
export const summariseTasks = async (sql: Sql, scope: OwnTasks): Promise<TaskSummary> => {
  const { owner, families } = scope
  const day = new Date(Date.now() - 86_400_000)
  const [row] = await sql<{ counts: Partial<Record<TaskState, number>> | null; events: number }[]>`
    select (
      select jsonb_object_agg(state, n) from (
        select current_state(status, error_code, waits_on) as state, count(*) as n
        from (
          (select status, error_code, waits_on from task t
            where account = ${owner} and owner = ${owner} and ended_at is null
              ${ofFamilies(sql, families)}
            limit ${MAX_COUNTED})
          union all
          (select status, error_code, waits_on from (${walk(sql, { ...scope, from: day }, MAX_COUNTED)}) t
            where ended_at is not null)
        ) t group by 1
      ) counted) as counts,
      (select count(*)::integer from (${walk(sql, scope, MAX_COUNTED)}) t
        join event e on e.task_id = t.id and e.state = 'exhausted') as events
  `
  const {
    waiting = 0,
    queued = 0,
    running = 0,
    done = 0,
    failed = 0,
    cancelled = 0,
  } = row?.counts ?? {}
  return {
    open: { waiting, queued, running },
    day: { done, failed, cancelled },
    exhausted_deliveries: row?.events ?? 0,
    capped: Math.max(waiting + queued + running, done + failed + cancelled) >= MAX_COUNTED,
  }
}

/** An event in the list of all of an owner's. */
export type OwnerEvent = SentEvent & { task_id: string; kind: TaskKind; prompt?: string }

interface OwnerEventRow
  extends SentTimes, Omit<OwnerEvent, keyof SentTimes | 'prompt'>, Pick<TaskPlace, 'createdAtUs'> {
  prompt: string | null
}

/** Lists events of an owner's tasks: the newest task's events first, and within a task the newest event first. */
export const listOwnerEvents = async (
  sql: Sql,
  {
    states,
    labels,
    batch,
    after,
    limit,
    from,
    to,
    ...scope
  }: TaskScope &
    Bounds &
    Pick<Walk, 'labels' | 'batch' | 'after'> & {
      states?: readonly string[] | undefined
      limit: number
    },
): Promise<Page<OwnerEvent>> => {
  const seen = {
    ...scope,
    labels,
    batch,
    after,
    isRare: await isRare(sql, { ...scope, labels, batch }),
  }
  const rows = await sql<OwnerEventRow[]>`
    select e.id, e.task_id, t.kind, ${promptOf(sql)} as prompt, e.sequence, e.status, e.created_at, e.state,
      coalesce(d.next_attempt_at, e.next_attempt_at) as next_attempt_at,
      (select count(*)::integer from attempt a where a.event_id = e.id) as attempts,
      ${isDeliveryPaused(sql)} as "isPaused", ${subscriptionsOf(sql)} as subscriptions,
      ${createdAtUs(sql)}
    from (${walk(sql, seen, MAX_SEEN)}) t
    join event e on e.task_id = t.id
    left join redelivery d on d.event_id = e.id and d.state = 'pending'
    where ${isMatch(sql, seen)}
      ${states ? sql`and ${hasDeliveryIn(sql, states)}` : sql``}
      ${isWithin(sql, sql`e.created_at`, { from, to })}
      ${after?.sequence ? sql`and (t.created_at, t.id, e.sequence) < (${placeOf(sql, after)}, ${after.sequence}::integer)` : sql``}
    order by t.created_at desc, t.id desc, e.sequence desc
    limit ${limit + 1}
  `
  const places = rows.map(({ createdAtUs, prompt, ...event }) => ({
    event: { ...showSent(event), ...(prompt !== null && { prompt }) },
    id: event.task_id,
    createdAtUs,
    sequence: String(event.sequence),
  }))
  const { rows: page, next } = await toPage(sql, { rows: places, seen, limit })
  return { rows: page.map(({ event }) => event), ...(next && { next }) }
}

/** Tasks that the estimate of a kind looks at, and how many ended ones of them it takes. */
const MAX_RECENT = 2000
const MAX_TIMED = 25
const EVERY_TASK = { families: undefined }

/** Seconds that the newest ended tasks of a kind took from their first attempt on, as a median; null without any. */
export const estimateKind = async (sql: Queryable, kind: TaskKind): Promise<number | null> => {
  const [row] = await sql<{ seconds: number | null }[]>`
    select percentile_cont(0.5) within group (order by seconds) as seconds
    from (
      select extract(epoch from t.ended_at - t.claimed_at)::float8 as seconds
      from (${walk(sql, EVERY_TASK, MAX_RECENT)}) t
      where t.kind = ${kind} and t.ended_at is not null and t.error_code is null
      order by t.created_at desc, t.id desc
      limit ${MAX_TIMED}
    ) timed
  `
  return row?.seconds == null ? null : Math.round(row.seconds * 10) / 10
}
