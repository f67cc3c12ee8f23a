import type { Transaction } from '../platform/db/client.ts'
import { endTask, type EndOptions } from './db/end-task.ts'
import { FAMILIES } from './domain/family.ts'
import type { TaskFamily } from '../platform/domain/task-scope.ts'
import { signalCancel } from './temporal/task.ts'

/**
 * Fails a task from outside its workflow, by its caller's wish (`cancelled`) or another's: makes the transition with all that
 * belongs to it, and stops the workflow. False when the task had ended already, has begun in time, or is past cancelling.
 */
export const failTask = async (
  sql: Transaction,
  { id, family }: { id: string; family: TaskFamily },
  { code, ...options }: EndOptions & { code: string },
): Promise<boolean> => {
  const { toError, unbegun, cancellable } = FAMILIES[family]
  const from = { start_timeout: unbegun, cancelled: cancellable }[code]
  const end = { id, family, to: 'failed', error: toError(code), from } as const
  const isFailed = await endTask(sql, end, options)
  if (isFailed) await options.enqueue(signalCancel(family, id))
  return isFailed
}
