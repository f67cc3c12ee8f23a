import { FAMILIES } from '../domain/family.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import type { Transaction } from '../../platform/db/client.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { admitVideos, type AdmissionRules } from './admission.ts'
import { lockOwnerOf, refundTask } from './owner.ts'
import { transitionTask, type Transition } from './task-transition.ts'

export interface TaskEnd extends Pick<Transition, 'id' | 'from' | 'fence' | 'error'> {
  family: TaskFamily
  to: 'done' | 'failed'
  /** Writes what the end brings, once it is this one. */
  record?(): Promise<void>
}

/** Rules for the next tasks of an owner once a task of theirs has ended. */
export interface EndOptions extends AdmissionRules {
  enqueue: Enqueue
}

/**
 * Ends a task, with what it brings in the same transaction: gives back the credits of a failed one, and its slot to the
 * next. False when the race was lost: it has ended, another attempt holds the fence, or there is no such task.
 */
export const endTask = async (
  sql: Transaction,
  { family, to, record, ...end }: TaskEnd,
  options: EndOptions,
): Promise<boolean> => {
  const { words, takesSlots } = FAMILIES[family]
  // Sent together, in this order.
  const [owner, ended] = await Promise.all([
    lockOwnerOf(sql, end.id),
    transitionTask(sql, family, { ...end, to: words[to] }),
  ])
  if (!ended) return false
  options.enqueue.line(ended, 'task ended')
  if (to === 'failed' && takesSlots) await refundTask(sql, end.id)
  await record?.()
  if (takesSlots && owner !== undefined) await admitVideos(sql, { ...options, owner })
  return true
}
