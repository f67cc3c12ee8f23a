import { markTaskPurged, usedByOpenTask, withoutTexts } from './purge.ts'
import type { PurgedStorage } from './purge.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Queryable, Sql, Transaction } from '../../platform/db/client.ts'
import { mayRead } from './filter.ts'
import { lockOwnerOf } from './owner.ts'

/** A task as it is while nothing else can change it. */
export interface LockedTask {
  family: TaskFamily
  status: string
  hasEnded: boolean
  isCancelled: boolean
  hasWebhook: boolean
}

/** Names a task that a caller may change. */
export interface OwnTask {
  id: string
  owner: string
  /** Absent: of either family. */
  family?: TaskFamily
  /** Absent: of any kind. */
  kinds?: readonly string[] | undefined
}

/** Finds and locks a task that the owner may change, behind its owner; undefined when there is none. */
export const lockTask = async (
  sql: Transaction,
  { id, owner, family, kinds }: OwnTask,
): Promise<LockedTask | undefined> => {
  // Sent together, in this order.
  const [, [row]] = await Promise.all([
    lockOwnerOf(sql, id),
    sql<LockedTask[]>`
      select family, status, ended_at is not null as "hasEnded",
        task_state(status, error_code) = 'cancelled' as "isCancelled", webhook_url is not null as "hasWebhook"
      from task t where id = ${id} and ${mayRead(sql, owner)}
        ${family ? sql`and family = ${family}` : sql``}
        ${kinds ? sql`and kind = any(${[...kinds]})` : sql``}
      for update
    `.execute(),
  ])
  return row
}

/** True when a task was cancelled. */
export const isCancelled = async (sql: Queryable, id: string): Promise<boolean> => {
  const [row] = await sql`
    select from task where id = ${id} and task_state(status, error_code) = 'cancelled'
  `
  return row !== undefined
}

/**
 * Marks a task for deletion. Its links, webhook URL and payload end with it at once, what its caller wrote once it has
 * ended, and its files go when no open task needs them. False when it was marked before.
 */
export const requestDeletion = async (sql: Transaction, id: string): Promise<boolean> => {
  const { count } = await sql`
    with deleted as (
      update task set delete_requested_at = clock_timestamp(), rev = rev + 1,
        webhook_url = null, payload = null,
        settings = case when ended_at is null then settings else ${withoutTexts(sql)} end,
        labels = case when ended_at is null then labels end
      where id = ${id} and delete_requested_at is null
      returning id, ended_at
    ), emptied as (
      update task_input i set url = '' from deleted d
      where i.task_id = d.id and d.ended_at is not null and i.url is not null
    )
    select from deleted
  `
  return count > 0
}

/** True when a task is to be deleted, has ended, and no open task uses its files. */
const isDeletionDue = async (sql: Queryable, id: string): Promise<boolean> => {
  const [row] = await sql`
    select from task t
    where id = ${id} and delete_requested_at is not null and ended_at is not null
      and purged_at is null and not ${usedByOpenTask(sql)}
  `
  return row !== undefined
}

/** Removes the files of a task, then what its row says of them; a second run removes nothing. */
export const purgeTask = async (
  { sql, storage }: { sql: Sql; storage: PurgedStorage },
  id: string,
) => {
  await storage.removePrefix(`inputs/${id}`)
  await storage.removePrefix(`results/${id}`)
  await markTaskPurged(sql, id)
}

/** Does so for a task that is to be deleted, if it is time; what is left, the hourly purge removes. */
export const purgeDeleted = async (deps: { sql: Sql; storage: PurgedStorage }, id: string) => {
  if (await isDeletionDue(deps.sql, id)) await purgeTask(deps, id)
}
