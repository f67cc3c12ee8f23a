import { mayRead } from '../event/event-log.ts'
import { markTaskPurged, usedByOpenTask } from '../shared/purge.ts'
import type { PurgedStorage } from '../shared/purge.ts'
import type { Queryable, Sql, Transaction } from '../client.ts'

/** A task that its owner deletes. */
export interface DeletedTask {
  family: 'image' | 'video'
  status: string
  hasEnded: boolean
}

/** Finds and locks a task that the owner may delete; undefined when there is none. */
export const lockTask = async (
  sql: Transaction,
  { id, owner }: { id: string; owner: string },
): Promise<DeletedTask | undefined> => {
  const [row] = await sql<DeletedTask[]>`
    select family, status, ended_at is not null as "hasEnded"
    from task t where id = ${id} and ${mayRead(sql, owner)} for update
  `
  return row
}

/** Marks a task for deletion: its links end with it at once, and its files go when no open task needs them. */
export const requestDeletion = async (sql: Transaction, id: string): Promise<void> => {
  await sql`
    update task set delete_requested_at = clock_timestamp(), rev = rev + 1
    where id = ${id} and delete_requested_at is null
  `
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
