import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
} from '@temporalio/workflow'

import type { CoreActivities, MediaActivities } from '../activities/index.ts'
import type { CheckTiming } from '../src/domain/registry/check-timing.ts'
import { checkErrorOf } from './failure.ts'
import { CHECK_TIMING, checkOptions, transitionOptions } from './options.ts'
import type { TaskEnd } from './task.ts'

export interface ExtractHostNodesInput {
  versionId: string
  /** Differences from the usual durations. */
  timing?: Partial<CheckTiming>
}

/**
 * Reads the archive of a version and gives the version its host nodes. The same unpacking shows whether the archive is
 * sound and what is dangerous in it, on which the publication decides. What is stored already is not read again. Either
 * way the extraction ends: in failure when the archive could not be read, and then the workflow fails, too.
 */
export const extractHostNodes = async ({
  versionId,
  timing = {},
}: ExtractHostNodesInput): Promise<TaskEnd> => {
  const { finishExtraction } = proxyLocalActivities<CoreActivities>(transitionOptions)
  const times = { ...CHECK_TIMING, ...timing }
  const { inspectArchive } = proxyActivities<MediaActivities>(
    checkOptions('read the archive: is it sound, what is dangerous, which host nodes', times),
  )
  setCurrentDetails(
    '**Reading** the archive: *Pending Activities* shows the attempt and its failure.',
  )
  try {
    await inspectArchive(versionId, times.attempts)
    const { result, status, detail } = await finishExtraction(versionId)
    if (result === 'settled') return showEnd(status, detail)
    throw ApplicationFailure.nonRetryable('there is no archive to read', 'archive_missing')
  } catch (error) {
    return await giveUp(versionId, error)
  }
}

/** Nothing stays pending. */
const giveUp = async (versionId: string, error: unknown): Promise<never> => {
  const { failExtraction } = proxyLocalActivities<CoreActivities>(transitionOptions)
  const code = checkErrorOf(error)
  const isCancelled = isCancellation(error)
  const reason = isCancelled ? code : 'timed_out'
  showEnd(await CancellationScope.nonCancellable(() => failExtraction(versionId, reason)), code)
  throw isCancelled ? error : ApplicationFailure.nonRetryable('the archive could not be read', code)
}

const showEnd = (status: string, reason: string): TaskEnd => {
  setCurrentDetails(`**${status}**: ${reason}`)
  return { status, reason }
}
