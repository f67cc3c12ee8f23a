import {
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  defineSignal,
  executeChild,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'

import type { ArchiveWait, CoreActivities, MediaActivities } from '../activities/index.ts'
import type { CheckTiming } from '../src/domain/check-timing.ts'
import { checkFaultOf } from './failure.ts'
import { CHECK_TIMING, checkOptions, moveOptions } from './options.ts'
import { receiveArchive } from './receive-archive.ts'
import { showTaskEnd } from './task.ts'
import type { TaskEnd } from './task.ts'

export interface PublishVersionInput {
  versionId: string
  /** What differs from the usual durations. */
  timing?: Partial<CheckTiming>
}

/**
 * An operator has what did not succeed run again. It comes with the restart of the workflow, which changes nothing while
 * a run is there, also one that is just about to end.
 */
export const checksRetried = defineSignal('checksRetried')

/**
 * Takes a version from its publication to the end of its checks: waits for the archive, checks it, decides. Started again
 * it does what is left. It fails only when a check could not run, which is then for an operator to retry.
 */
export const publishVersion = async (input: PublishVersionInput): Promise<TaskEnd> => {
  const { versionId, timing = {} } = input
  let retried = false
  setHandler(checksRetried, () => {
    retried = true
  })
  setCurrentDetails('**Waiting** for the archive: the child *receiveArchive* tells until when.')
  const upload = await waitForUpload({ versionId, timing })
  if (!upload.hasArchive) return showTaskEnd(upload.status, 'there is no archive to check')
  // What asked for checks until now has them begin here.
  retried = false
  const times = { ...CHECK_TIMING, ...timing }
  const outcome = await checkAndDecide({ versionId, times, isRetried: () => retried })
  if (!outcome || retried) return await continueAsNew<typeof publishVersion>(input)
  if (outcome.failure) throw outcome.failure
  return outcome.end
}

interface Checking {
  versionId: string
  times: CheckTiming
  isRetried(): boolean
}

interface Outcome {
  end: TaskEnd
  /** What the workflow fails with, for operators to find it. */
  failure?: Error
}

/** Undefined when the checks failed and somebody has asked for them meanwhile: they are not given up. */
const checkAndDecide = async ({
  versionId,
  times,
  isRetried,
}: Checking): Promise<Outcome | undefined> => {
  const { startChecks, decideVersion } = proxyLocalActivities<CoreActivities>(moveOptions)
  await startChecks(versionId)
  try {
    await runChecks(versionId, times)
  } catch (error) {
    return isRetried() ? undefined : await giveUp(versionId, error)
  }
  const decided = await decideVersion(versionId)
  return { end: showTaskEnd(decided.status, decided.result) }
}

/** A child of a run that an operator has just ended may live a moment longer than that run. */
const waitForUpload = async (input: PublishVersionInput): Promise<ArchiveWait> => {
  const { workflowId, typedSearchAttributes } = workflowInfo()
  for (;;)
    try {
      return await executeChild(receiveArchive, {
        workflowId: `receive-archive/${input.versionId}`,
        args: [input],
        staticSummary: `upload of ${workflowId}`,
        // Without the status, which would stay what it is now.
        typedSearchAttributes: typedSearchAttributes
          .getAll()
          .filter(({ key }) => key.name !== 'KilnStatus'),
      })
    } catch (error) {
      if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError'))
        throw error
      await sleep('1 second', { summary: 'the wait of an earlier run ends' })
    }
}

/** Every check of the archive, in turn. What reads its contents follows the one of its bytes. */
const runChecks = async (versionId: string, timing: CheckTiming): Promise<void> => {
  const { checkArchive } = proxyActivities<MediaActivities>(
    checkOptions('check the stored bytes, accept or reject the archive', timing),
  )
  setCurrentDetails('**Checking** the archive: *Pending Activities* tells the try and its failure.')
  await checkArchive(versionId)
}

/**
 * Leaves the reason with the version, which stays Pending, and fails the workflow, which operators look for. One that
 * somebody has moved meanwhile needs none.
 */
const giveUp = async (versionId: string, error: unknown): Promise<Outcome> => {
  const { giveUpChecks } = proxyLocalActivities<CoreActivities>(moveOptions)
  const code = checkFaultOf(error)
  const status = await CancellationScope.nonCancellable(() => giveUpChecks(versionId, code))
  const end = showTaskEnd(status, code)
  if (isCancellation(error)) return { end, failure: error as Error }
  if (status !== 'NodeVersionStatusPending') return { end }
  return { end, failure: ApplicationFailure.nonRetryable('the checks could not run', code) }
}
