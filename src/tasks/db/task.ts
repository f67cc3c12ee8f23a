import type { TaskState } from '../domain/task-item.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Queryable, Sql } from '../../platform/db/client.ts'
import { endedAttempt } from './ended-attempt.ts'
import { mayRead } from './filter.ts'

/** An error of an engine, cut and cleaned; `isShown` to the caller, too. */
export interface EngineReason {
  text: string
  isShown: boolean
}

/** Counts a failure of engine or store, unless a newer attempt has begun. Returns how many there are now. */
export const countFailure = async (
  sql: Sql,
  { id, fence, code }: { id: string; fence: number; code: string },
): Promise<number | undefined> => {
  const [row] = await sql<{ failures: number }[]>`
    update task set failures = failures + 1,
      attempts = ${endedAttempt(sql, code)}
    where id = ${id} and fence = ${fence} and ended_at is null
    returning failures
  `
  return row?.failures
}

/** Keeps what an engine says of the attempt that holds the fence, in place of what was said before. */
export const recordEngineError = async (
  sql: Sql,
  { id, fence }: { id: string; fence: number },
  { text, isShown }: EngineReason,
): Promise<void> => {
  await sql`
    update task set engine_error = ${text}, engine_error_shown = ${isShown}, rev = rev + 1
    where id = ${id} and fence = ${fence} and ended_at is null
  `
}

/**
 * Forgets the id of a task at an upstream that does not know it any more, and counts the submission that follows, in one
 * statement: whoever dies around it sends it under the same number. False: another attempt holds the fence.
 */
export const recordResubmission = async (
  sql: Sql,
  { id, fence }: { id: string; fence: number },
): Promise<boolean> => {
  const { count } = await sql`
    update task set upstream_id = null, resubmissions = resubmissions + 1
    where id = ${id} and fence = ${fence} and ended_at is null
  `
  return count > 0
}

/** Records what the upstream calls a task, for the attempt that holds the fence; false: it does not any more. */
export const storeUpstreamId = async (
  sql: Sql,
  { id, fence, upstreamId }: { id: string; fence: number; upstreamId: string },
): Promise<boolean> => {
  const { count } = await sql`
    update task set upstream_id = ${upstreamId}
    where id = ${id} and fence = ${fence} and ended_at is null
  `
  return count > 0
}

/** Records the progress of the attempt that holds the fence; false: no change. It never falls; 100 needs success. */
export const recordProgress = async (
  sql: Sql,
  { id, fence, percent }: { id: string; fence: number; percent: number },
): Promise<boolean> => {
  const progress = Math.min(99, Math.floor(percent))
  const { count } = await sql`
    update task set progress = ${progress}, rev = rev + 1
    where id = ${id} and fence = ${fence} and status in ('processing', 'IN_PROGRESS')
      and progress < ${progress}
  `
  return count > 0
}

/** State of a task, why it has failed or waits, and the fence of its last attempt. */
export interface FencedState {
  state: TaskState
  reason: string | null
  fence: number
}

/** Finds the state of a task; undefined when there is none. */
export const findTaskState = async (
  sql: Queryable,
  id: string,
): Promise<FencedState | undefined> => {
  const [row] = await sql<FencedState[]>`
    select current_state(status, error_code, waits_on) as state, coalesce(error_code, waits_on) as reason, fence
    from task where id = ${id}
  `
  return row
}

/** Finds the family of a task that the owner may read; an admin may read every one. */
export const findTaskFamily = async (
  sql: Queryable,
  { id, owner, isAdmin = false }: { id: string; owner: string; isAdmin?: boolean | undefined },
): Promise<TaskFamily | undefined> => {
  const [row] = await sql<{ family: TaskFamily }[]>`
    select family from task t where id = ${id} and (${mayRead(sql, owner)} or ${isAdmin})
  `
  return row?.family
}

export const existsTask = async (sql: Sql, id: string): Promise<boolean> => {
  const [row] = await sql`select from task where id = ${id}`
  return row !== undefined
}
