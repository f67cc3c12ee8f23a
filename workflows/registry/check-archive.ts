import {
  ActivityFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow'

import type { ArchiveToCheck, CheckActivities } from '../../activities/registry/check-archive.ts'
import type { CheckTiming } from '../../src/registry/domain/check-timing.ts'
import { checkErrorOf } from '../platform/failure.ts'
import { showTaskEnd } from '../tasks/task.ts'
import { CHECK_TIMING, checkOptions } from './check-options.ts'

/** End of a check: what was found lies in the store, the deadline came first, or the service failed. */
export type ArchiveCheckEnd = 'read' | 'late' | 'failed'

/** Has an archive read for a caller who waits and publishes nothing. Whatever its end, the workflow completes. */
export const checkArchive = async (
  upload: ArchiveToCheck,
  timing: Partial<CheckTiming>,
): Promise<ArchiveCheckEnd> => {
  const times = { ...CHECK_TIMING, ...timing }
  const { checkArchive } = proxyActivities<CheckActivities>({
    ...checkOptions('read an archive that is only checked', times),
    // Waiting for a media worker and all attempts count.
    scheduleToCloseTimeout: times.deadlineSeconds * 1000,
  })
  try {
    await checkArchive(upload, times.attempts)
    return showEnd('read', 'the caller has what was found')
  } catch (error) {
    if (isCancellation(error)) throw error
    return isLate(error)
      ? showEnd('late', 'the media workers did not come to it, or to its end')
      : showEnd('failed', checkErrorOf(error))
  }
}

const isLate = (error: unknown): boolean =>
  error instanceof ActivityFailure &&
  (error.cause instanceof TimeoutFailure || error.retryState === 'TIMEOUT')

const showEnd = (end: ArchiveCheckEnd, reason: string): ArchiveCheckEnd => {
  showTaskEnd(end, reason)
  return end
}
