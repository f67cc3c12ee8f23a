import { randomUUID } from 'node:crypto'

import { withinDeadline, type Transaction } from '../db/client.ts'
import { toLimitError, type LimitedTask } from '../db/task/account.ts'
import { existsTask } from '../db/task/task.ts'
import { isOutcomeUnknown, unitOfWork, type Enqueue, type UnitDeps } from '../db/unit-of-work.ts'
import type { InputDeps } from './deps.ts'

/**
 * Runs the creation of a task under a new id. When it is rejected, its files are removed. When its commit is in doubt
 * they must stay, because the task may exist.
 */
export const createUnderNewId = async <T>(
  { storage }: Pick<InputDeps, 'storage'>,
  create: (id: string) => Promise<T>,
): Promise<T> => {
  const id = randomUUID()
  try {
    return await create(id)
  } catch (error) {
    if (!isOutcomeUnknown(error)) await storage.removePrefix(`inputs/${id}`).catch(() => {})
    throw error
  }
}

interface TaskToCommit<T> extends LimitedTask {
  id: string
  /** Inserts the task, with the start of its workflow and what its caller writes beside it; returns what that has made. */
  insert(sql: Transaction, enqueue: Enqueue): Promise<T>
}

/** Makes a task durable together with the start of its workflow, if it is admitted. Returns what `insert` does. Throws 402 and 429. */
export const commitTask = async <T>(
  deps: UnitDeps,
  { id, insert, ...task }: TaskToCommit<T>,
): Promise<T> =>
  await unitOfWork(deps, insert, {
    at: 'create',
    wasCommitted: () => existsTask(deps.sql, id),
  }).catch(async (error: unknown) => {
    throw await withinDeadline(deps.sql, toLimitError(deps.sql, error, task))
  })
