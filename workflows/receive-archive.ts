import {
  condition,
  continueAsNew,
  defineSignal,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'

import type { ArchiveWait, CoreActivities } from '../activities/index.ts'
import type { CheckTiming } from '../src/domain/registry/check-timing.ts'
import { CHECK_TIMING, transitionOptions } from './options.ts'

export interface ReceiveArchiveInput {
  versionId: string
  timing?: Partial<CheckTiming>
}

/** An upload was committed. Carries the outbox row's id; a repetition, or a lost one, costs a read of the row. */
const archiveUploaded = defineSignal<[{ id: string }]>('archiveUploaded')

/**
 * Receives the archive of a version: ends with one that the version says has arrived, or ends the version whose upload never
 * came.
 */
export const receiveArchive = async (input: ReceiveArchiveInput): Promise<ArchiveWait> => {
  const { finishUpload, startChecks } = proxyLocalActivities<CoreActivities>(transitionOptions)
  const { pollSeconds } = { ...CHECK_TIMING, ...input.timing }
  let hasChanged = false
  setHandler(archiveUploaded, () => {
    hasChanged = true
  })
  setCurrentDetails('**Waiting** for the upload of the archive.')
  for (;;) {
    // The row shows an upload before it is read, the signal one after it.
    hasChanged = false
    const wait = await finishUpload(input.versionId)
    if (wait.hasArchive) await startChecks(input.versionId)
    if (wait.waitMs === 0) return showWait(wait)
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof receiveArchive>(input)
    // A deadline may have moved, and a version may have been deleted, without a signal.
    await condition(() => hasChanged, Math.min(wait.waitMs, pollSeconds * 1000))
  }
}

const showWait = (wait: ArchiveWait): ArchiveWait => {
  setCurrentDetails(
    wait.hasArchive ? '**Received** the archive.' : '**No archive** came before the version ended.',
  )
  return wait
}
