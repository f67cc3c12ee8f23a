import type { Transaction } from '../db/client.ts'
import { endTask, type EndOptions } from '../db/task/end-task.ts'
import { FAMILIES } from '../domain/task/family.ts'
import type { TaskFamily } from '../domain/task/task-scope.ts'
import { signalCancel } from '../jobs/task.ts'

/**
 * Fails a task from outside its workflow: makes the transition with all that belongs to it, and cancels the workflow.
 * False when the task had ended already, or has begun in time.
 */
export const failTask = async (
  sql: Transaction,
  { id, family }: { id: string; family: TaskFamily },
  { code, ...options }: EndOptions & { code: string },
): Promise<boolean> => {
  const { toError, unbegun } = FAMILIES[family]
  const error = toError(code)
  const from = code === 'start_timeout' ? unbegun : undefined
  const isFailed = await endTask(sql, { id, family, to: 'failed', error, from }, options)
  if (isFailed) await options.enqueue(signalCancel(family, id))
  return isFailed
}
