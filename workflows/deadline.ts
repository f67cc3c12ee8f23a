import { proxyLocalActivities, sleep } from '@temporalio/workflow'
import type { CancellationScope } from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import type { FailureReason } from './failure.ts'
import { transitionOptions } from './options.ts'

/** Deadlines that a caller sets, and the code of a task that passes one. */
const CODES = { start: 'start_timeout', end: 'deadline_exceeded' } as const

interface Deadlines {
  work: CancellationScope
  /** Fails the task, unless it has begun meanwhile or has ended; returns its status. */
  fail(taskId: string, reason: FailureReason): Promise<string>
  ended: ReadonlySet<string>
}

/**
 * Fails a task at the deadlines of its caller and stops its work. The row is read after each wait, too: it decides.
 * Returns a function that returns the reason once one has passed.
 */
export const keepDeadlines = (taskId: string, { work, fail, ended }: Deadlines) => {
  const { findDeadline } = proxyLocalActivities<CoreActivities>(transitionOptions)
  let reason: FailureReason | undefined
  const keep = async (until: keyof typeof CODES): Promise<void> => {
    for (;;) {
      const leftMs = await findDeadline(taskId, until)
      if (leftMs === null) return
      if (leftMs === 0) break
      await sleep(leftMs)
    }
    const passed = { code: CODES[until] }
    if (!ended.has(await fail(taskId, passed))) return
    reason = passed
    work.cancel()
  }
  // A cancellation of the workflow ends the waits; its render reports that.
  keep('start').catch(() => {})
  keep('end').catch(() => {})
  return (): FailureReason | undefined => reason
}
