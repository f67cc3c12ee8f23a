import {
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
} from '@temporalio/workflow'

import type { CoreActivities, MediaActivities } from '../activities/index.ts'
import type { CheckTiming } from '../src/domain/registry/check-timing.ts'
import { CHECK_TIMING, checkOptions, moveOptions } from './options.ts'
import type { TaskEnd } from './task.ts'

export interface ExtractHostNodesInput {
  versionId: string
  /** What differs from the usual durations. */
  timing?: Partial<CheckTiming>
}

/**
 * Settles which host nodes a version has: by the reading of its archive that is stored, else by one more, which has its
 * time from when a worker takes it. Whatever comes of that, the extraction ends in success or failure.
 */
export const extractHostNodes = async ({
  versionId,
  timing = {},
}: ExtractHostNodesInput): Promise<TaskEnd> => {
  const { settleExtraction, failExtraction } = proxyLocalActivities<CoreActivities>(moveOptions)
  const times = { ...CHECK_TIMING, ...timing }
  setCurrentDetails('**Settling** the host nodes: reading the archive again when that is missing.')
  try {
    const stored = await settleExtraction(versionId)
    if (stored.result === 'settled') return showEnd(stored.status, stored.detail)
    const { inspectArchive } = proxyActivities<MediaActivities>(
      checkOptions('read the archive once more for its host nodes', {
        ...times,
        deadlineSeconds: times.extractSeconds,
      }),
    )
    await inspectArchive(versionId, times.tries)
    const read = await settleExtraction(versionId)
    if (read.result === 'settled') return showEnd(read.status, read.detail)
    return await CancellationScope.nonCancellable(() => end(versionId))
  } catch (error) {
    const ended = await CancellationScope.nonCancellable(() => end(versionId))
    if (isCancellation(error) && CancellationScope.current().consideredCancelled) throw error
    return ended
  }

  async function end(id: string): Promise<TaskEnd> {
    return showEnd(await failExtraction(id, 'timed_out'), 'timed_out')
  }
}

const showEnd = (status: string, reason: string): TaskEnd => {
  setCurrentDetails(`**${status}**: ${reason}`)
  return { status, reason }
}
