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
import type { CheckTiming } from '../src/domain/registry/check-timing.ts'
import { extractHostNodes } from './extract-host-nodes.ts'
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
const checksRetried = defineSignal('checksRetried')

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
    await readArchive(versionId, times)
  } catch (error) {
    return isRetried() ? undefined : await giveUp({ versionId, times }, error)
  }
  await settleHostNodes(versionId, times)
  const decided = await decideVersion(versionId)
  return { end: showTaskEnd(decided.status, decided.result) }
}

const waitForUpload = async (input: PublishVersionInput): Promise<ArchiveWait> =>
  await untilFree(() =>
    executeChild(receiveArchive, {
      workflowId: `receive-archive/${input.versionId}`,
      args: [input],
      staticSummary: `upload of ${versionLabel()}`,
      typedSearchAttributes: attributesOfChildren(),
    }),
  )

/** One reading of the archive for everything: verdict, findings, host nodes. */
const readArchive = async (versionId: string, times: CheckTiming): Promise<void> => {
  const { inspectArchive } = proxyActivities<MediaActivities>(
    checkOptions('read the archive: is it sound, what is dangerous, which host nodes', times),
  )
  setCurrentDetails('**Checking** the archive: *Pending Activities* tells the try and its failure.')
  await inspectArchive(versionId, times.tries)
}

/** Whatever the verdict is, also when there is none. */
const settleHostNodes = async (versionId: string, timing: CheckTiming): Promise<void> => {
  await untilFree(() =>
    executeChild(extractHostNodes, {
      workflowId: `extract-host-nodes/${versionId}`,
      args: [{ versionId, timing }],
      staticSummary: `host nodes of ${versionLabel()}`,
      typedSearchAttributes: attributesOfChildren(),
    }),
  )
}

/** A child of a run that an operator has just ended may live a moment longer than that run. */
const untilFree = async <T>(start: () => Promise<T>): Promise<T> => {
  for (;;)
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError'))
        throw error
      await sleep('1 second', { summary: 'a child of an earlier run ends' })
    }
}

/** "my-pack@1.2.0", as it is found by. */
const versionLabel = (): string => {
  const attributes = new Map(
    workflowInfo()
      .typedSearchAttributes.getAll()
      .map(({ key, value }) => [key.name, String(value)]),
  )
  return `${attributes.get('KilnNode')}@${attributes.get('KilnVersion')}`
}

/** Those of this workflow without the status, which would stay what it is now. */
const attributesOfChildren = () =>
  workflowInfo()
    .typedSearchAttributes.getAll()
    .filter(({ key }) => key.name !== 'KilnStatus')

/**
 * Leaves the reason with the version, which stays Pending, and fails the workflow, which operators look for. One that
 * somebody has moved meanwhile needs none.
 */
const giveUp = async (
  { versionId, times }: Pick<Checking, 'versionId' | 'times'>,
  error: unknown,
): Promise<Outcome> => {
  const { giveUpChecks, failExtraction } = proxyLocalActivities<CoreActivities>(moveOptions)
  const code = checkFaultOf(error)
  const status = await CancellationScope.nonCancellable(() => giveUpChecks(versionId, code))
  if (isCancellation(error)) {
    await CancellationScope.nonCancellable(() => failExtraction(versionId, 'cancelled'))
    return { end: showTaskEnd(status, code), failure: error as Error }
  }
  await settleHostNodes(versionId, times)
  const end = showTaskEnd(status, code)
  if (status !== 'NodeVersionStatusPending') return { end }
  return { end, failure: ApplicationFailure.nonRetryable('the checks could not run', code) }
}
