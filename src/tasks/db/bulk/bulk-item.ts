import type { ItemError, ItemOutcome } from '../../domain/bulk/bulk.ts'
import type { TaskKind, TaskState } from '../../domain/task-item.ts'
import { PAUSED } from '../../domain/waits-for.ts'
import type { Queryable, Sql, Transaction } from '../../../platform/db/client.ts'
import { isMakerLive } from '../../../identity/db/api-key.ts'
import { isActive } from '../pause.ts'
import { errorOf, resultNames, waitsFor } from '../task-file.ts'
import { jsonOrNull } from './bulk.ts'

/** Place of an item: the next one of its batch or operation. */
export interface ItemPlace {
  bulkId: string
  index: number
  /** Byte of the file at which the item after it begins; absent: there is no file. */
  nextOffset?: number
  /** The name that its caller gave the request. */
  customId?: string | undefined
}

/**
 * Records the outcome of an item in the transaction of its effect. False, and then the effect must be rolled back: another
 * run has done it already, or it is to stop, as somebody has asked or because the credential of its maker has ended.
 */
export const recordItem = async (
  sql: Transaction,
  { bulkId, index, nextOffset, customId }: ItemPlace,
  { outcome, ...item }: ItemOutcome,
): Promise<boolean> => {
  const {
    taskId = null,
    result = null,
    error = null,
  } = item as {
    taskId?: string
    result?: object
    error?: ItemError
  }
  const { count } = await sql`
    with advanced as (
      update bulk t set next_index = t.next_index + 1, error = null, changed_at = clock_timestamp(),
        next_offset = coalesce(${nextOffset ?? null}::bigint, t.next_offset)
      where t.id = ${bulkId} and t.state = 'running' and t.next_index = ${index}
        and t.cancel_requested_at is null and ${isMakerLive(sql)}
      returning t.id
    )
    insert into bulk_item (bulk_id, index, task_id, outcome, result, error, custom_id)
    select id, ${index}, ${taskId}::uuid, ${outcome}, ${jsonOrNull(sql, result)}::jsonb,
      ${jsonOrNull(sql, error)}::jsonb, ${customId ?? null}::text
    from advanced
    on conflict (bulk_id, index) do update
      set outcome = excluded.outcome, result = excluded.result, error = excluded.error
  `
  return count > 0
}

/** Finds the task that an item of an operation is about, and whose it is. */
export const findItemTask = async (
  sql: Sql,
  { bulkId, index }: ItemPlace,
): Promise<{ taskId: string; owner: string } | undefined> => {
  const [row] = await sql<{ taskId: string; owner: string }[]>`
    select i.task_id as "taskId", t.owner
    from bulk_item i join task t on t.id = i.task_id
    where i.bulk_id = ${bulkId} and i.index = ${index}
  `
  return row
}

/** Counts items by the state of the task that was made of them, or by their outcome where there is none. */
export const countBatch = async (sql: Queryable, id: string): Promise<Record<string, number>> =>
  toCounts(
    await sql<Counted[]>`
    select case when i.task_id is null then i.outcome else current_state(t.status, t.error_code, t.waits_on) end as state,
      count(*)::integer as n
    from bulk_item i left join task t on t.id = i.task_id
    where i.bulk_id = ${id}
    group by 1
  `,
  )

/** Finds the reasons of a task of a batch that a pause holds, if there is one. Without a pause no task is read. */
export const listWaitReasons = async (
  sql: Queryable,
  id: string,
): Promise<string[] | undefined> => {
  const [row] = await sql<{ reasons: string[] }[]>`
    select ${waitsFor(sql)} as reasons from bulk_item i join task t on t.id = i.task_id
    where exists (select from pause where ${isActive(sql)})
      and i.bulk_id = ${id} and t.ended_at is null and (${waitsFor(sql)})[1] = ${PAUSED}
    limit 1
  `
  return row?.reasons
}

/** Counts the items that have an outcome, by outcome. */
export const countOperation = async (sql: Queryable, id: string): Promise<Record<string, number>> =>
  toCounts(
    await sql<Counted[]>`
    select outcome as state, count(*)::integer as n
    from bulk_item where bulk_id = ${id} and outcome is not null
    group by 1
  `,
  )

interface Counted {
  state: string
  n: number
}

const toCounts = (rows: readonly Counted[]): Record<string, number> =>
  Object.fromEntries(rows.map(({ state, n }) => [state, n]))

/** Finds the first item from a place on whose own task has not ended; undefined when all have. */
export const findOpenItem = async (
  sql: Sql,
  { bulkId, index }: ItemPlace,
): Promise<{ index: number; taskId: string; owner: string } | undefined> => {
  const [row] = await sql<{ index: number; taskId: string; owner: string }[]>`
    select i.index, i.task_id as "taskId", t.owner
    from bulk_item i join task t on t.id = i.task_id
    where i.bulk_id = ${bulkId} and i.index >= ${index} and t.ended_at is null
      and i.result is null
    order by i.index
    limit 1
  `
  return row
}

/**
 * Makes the last open task of a batch the one whose end signals the batch's workflow, by trigger `watched_task_ended`
 * (0066); false when no task is open. @param isOwn leaves out tasks that another request has made
 */
export const watchLastTask = async (
  sql: Transaction,
  { bulkId, isOwn }: { bulkId: string; isOwn: boolean },
): Promise<boolean> => {
  // The lock of the task lets one that is ending do so first, and then the task before it is found.
  const { count } = await sql`
    with last as (
      select t.id
      from bulk_item i join task t on t.id = i.task_id
      where i.bulk_id = ${bulkId} and t.ended_at is null and (not ${isOwn}::boolean or i.result is null)
      order by i.index desc
      limit 1
      for share of t
    )
    update bulk set watched_task = last.id from last where bulk.id = ${bulkId}
  `
  return count > 0
}

/** An item with what became of its task. */
export interface ItemRow {
  index: number
  taskId: string | null
  outcome: 'done' | 'rejected' | null
  customId: string | null
  result: {
    task_id?: string
    redeliveries?: number
    replayed?: boolean
    ignored_fields?: string[]
  } | null
  error: ItemError | null
  state: TaskState | null
  /** Absent without a task. */
  kind: TaskKind | null
  segment: string
  family: 'image' | 'video'
  taskError: ItemError | null
  results: string[] | null
}

export const listItems = async (
  sql: Sql,
  { bulkId, index }: ItemPlace,
  limit: number,
): Promise<ItemRow[]> =>
  await sql<ItemRow[]>`
  select i.index, i.task_id as "taskId", i.custom_id as "customId", i.outcome, i.result, i.error,
    current_state(t.status, t.error_code, t.waits_on) as state, t.kind, t.segment, t.family,
    ${errorOf(sql)} as "taskError",
    case when t.error_code is null and t.ended_at is not null then ${resultNames(sql)} end as results
  from bulk_item i left join task t on t.id = i.task_id
  where i.bulk_id = ${bulkId} and i.index >= ${index}
  order by i.index
  limit ${limit}
`
