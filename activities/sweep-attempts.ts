import { listFetchedInputs } from '../src/db/task/task-file.ts'
import { findTaskState } from '../src/db/task/task.ts'
import type { TaskState } from '../src/db/task/task.ts'
import { isOutage } from '../src/adapters/storage/storage.ts'
import type { CommonDependencies } from './dependencies.ts'

/**
 * Removes what attempts have left beside the results of an ended task, and what they fetched, which only they read.
 * Answers the status of the task. It reads the row, because a repetition makes no move, and the files of a completed task
 * must stay. Throws while the store is away, so that it is repeated. `known` is the content of the row when the caller has just written it.
 */
export const sweepAttempts = async (
  { sql, storage, log }: CommonDependencies,
  taskId: string,
  known?: TaskState,
): Promise<string> => {
  const { status, fence } = known ?? (await findTaskState(sql, taskId)) ?? GONE
  const folder = `results/${taskId}`
  try {
    if (FAILED.has(status)) await storage.removePrefix(folder)
    if (COMPLETED.has(status) && fence > 1)
      for (const key of await storage.list(folder))
        if (!key.startsWith(`${folder}/${fence}/`)) await storage.removePrefix(attemptOf(key))
    if (FAILED.has(status) || COMPLETED.has(status))
      for (const key of await listFetchedInputs(sql, taskId)) await storage.remove(key)
  } catch (error) {
    // The move is made and told; only its repetition, once the store is back, removes what is left.
    if (isOutage(error)) throw error
    log.warn({ task_id: taskId, err: error }, 'files of older attempts were not removed')
  }
  return status
}

const FAILED: ReadonlySet<string> = new Set(['FAILED', 'failed'])
const COMPLETED: ReadonlySet<string> = new Set(['COMPLETED', 'success'])
const GONE = { status: 'FAILED', fence: 0 } as const

/** `results/<task>/<fence>` of a key below it. */
const attemptOf = (key: string): string => key.split('/').slice(0, 3).join('/')
