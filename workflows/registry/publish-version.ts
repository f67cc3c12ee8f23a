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
  workflowInfo,
} from '@temporalio/workflow'

import type { InspectActivities } from '../../activities/registry/inspect-archive.ts'
import type { ArchiveWait, VersionTransitions } from '../../activities/registry/version.ts'
import type { CheckTiming } from '../../src/registry/domain/check-timing.ts'
import { CHECK_TIMING, checkOptions } from './check-options.ts'
import { checkErrorOf } from '../platform/failure.ts'
import { transitionOptions } from '../platform/options.ts'
import { showTaskEnd } from '../tasks/task.ts'
import type { TaskEnd } from '../tasks/task.ts'
import { makeChangeWait } from '../platform/wait.ts'

/** Input of the three workflows of a version: its publication and, as its children, upload and reading of its archive. */
export interface VersionInput {
  versionId: string
  /** Differences from the usual durations. */
  timing?: Partial<CheckTiming>
}

/**
 * Takes a version from its publication to its decision: receives the archive, has it read, decides. Started again it does
 * what is left. It fails only when the archive could not be read, which is then for an operator to retry.
 */
export const publishVersion = async (input: VersionInput): Promise<TaskEnd> => {
  const { versionId } = input
  const { decideVersion } = proxyLocalActivities<VersionTransitions>(transitionOptions)
  setCurrentDetails('**Waiting** for the archive: the child *receiveArchive* shows until when.')
  const upload = await executeChild(receiveArchive, {
    ...childOptions('receive-archive', versionId),
    staticSummary: `upload of ${versionLabel()}`,
    args: [input],
  })
  if (!upload.hasArchive) return showTaskEnd(upload.status, 'there is no archive to check')
  setCurrentDetails('**Checking** the archive: the child *extractHostNodes* shows the attempt.')
  try {
    await executeChild(extractHostNodes, {
      ...childOptions('extract-host-nodes', versionId),
      staticSummary: `reading of ${versionLabel()}`,
      args: [input],
    })
  } catch (error) {
    return await giveUpChecks(versionId, error, upload.transition)
  }
  const decided = await decideVersion(versionId)
  return showTaskEnd(decided.status, decided.result)
}

const childOptions = (kind: string, versionId: string) => ({
  workflowId: `${kind}/${versionId}`,
  // A child of a run that an operator has just ended may live a moment longer than that run.
  workflowIdReusePolicy: 'TERMINATE_IF_RUNNING' as const,
  // Without the status, which would stay what it is now.
  typedSearchAttributes: workflowInfo()
    .typedSearchAttributes.getAll()
    .filter(({ key }) => key.name !== 'KilnStatus'),
})

/** "my-pack@1.2.0", as it is found by. */
const versionLabel = (): string => {
  const attributes = new Map(
    workflowInfo()
      .typedSearchAttributes.getAll()
      .map(({ key, value }) => [key.name, String(value)]),
  )
  return `${attributes.get('KilnNode')}@${attributes.get('KilnVersion')}`
}

/**
 * Leaves the reason with the version, which stays Pending, and fails the workflow, which operators look for. One that
 * somebody has moved since its checks began needs none.
 */
const giveUpChecks = async (
  versionId: string,
  error: unknown,
  since: string | undefined,
): Promise<TaskEnd> => {
  const transitions = proxyLocalActivities<VersionTransitions>(transitionOptions)
  const code = checkErrorOf(error)
  const status = await CancellationScope.nonCancellable(() =>
    transitions.giveUpChecks(versionId, code, since),
  )
  const end = showTaskEnd(status, code)
  if (isCancellation(error)) throw error
  if (status !== 'NodeVersionStatusPending') return end
  throw ApplicationFailure.nonRetryable('the checks could not run', code)
}

/** An archive has arrived, or the wait for it is another one. A repetition costs a read of the row. */
const archiveUploaded = defineSignal<[{ id: string }]>('archiveUploaded')

/**
 * Receives the archive of a version: ends with one that the version says has arrived, or ends the version whose upload never
 * came.
 */
export const receiveArchive = async (input: VersionInput): Promise<ArchiveWait> => {
  const { finishUpload, startChecks } = proxyLocalActivities<VersionTransitions>(transitionOptions)
  const changes = makeChangeWait(archiveUploaded)
  setCurrentDetails('**Waiting** for the upload of the archive.')
  for (;;) {
    changes.watch()
    const wait = await finishUpload(input.versionId)
    if (wait.hasArchive)
      return showWait({
        ...wait,
        transition: await startChecks(input.versionId, wait.transition),
      })
    if (wait.waitMs === 0) return showWait(wait)
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof receiveArchive>(input)
    await changes.wait(wait.waitMs)
  }
}

const showWait = (wait: ArchiveWait): ArchiveWait => {
  setCurrentDetails(
    wait.hasArchive ? '**Received** the archive.' : '**No archive** came before the version ended.',
  )
  return wait
}

/**
 * Reads the archive of a version and gives the version its host nodes. The same unpacking shows whether the archive is
 * sound and what is dangerous in it, on which the publication decides. What is stored already is not read again. Either
 * way the extraction ends: in failure when the archive could not be read, and then the workflow fails, too.
 */
export const extractHostNodes = async ({
  versionId,
  timing = {},
}: VersionInput): Promise<TaskEnd> => {
  const { finishExtraction } = proxyLocalActivities<VersionTransitions>(transitionOptions)
  const times = { ...CHECK_TIMING, ...timing }
  const { inspectArchive } = proxyActivities<InspectActivities>(
    checkOptions('read the archive: is it sound, what is dangerous, which host nodes', times),
  )
  setCurrentDetails(
    '**Reading** the archive: *Pending Activities* shows the attempt and its failure.',
  )
  try {
    await inspectArchive(versionId, times.attempts)
    const { result, status, detail } = await finishExtraction(versionId)
    if (result === 'settled') return showExtraction(status, detail)
    throw ApplicationFailure.nonRetryable('there is no archive to read', 'archive_missing')
  } catch (error) {
    return await giveUpExtraction(versionId, error)
  }
}

/** Nothing stays pending. */
const giveUpExtraction = async (versionId: string, error: unknown): Promise<never> => {
  const { failExtraction } = proxyLocalActivities<VersionTransitions>(transitionOptions)
  const code = checkErrorOf(error)
  const isCancelled = isCancellation(error)
  const reason = isCancelled ? code : 'timed_out'
  const status = await CancellationScope.nonCancellable(() => failExtraction(versionId, reason))
  showExtraction(status, code)
  throw isCancelled ? error : ApplicationFailure.nonRetryable('the archive could not be read', code)
}

const showExtraction = (status: string, reason: string): TaskEnd => {
  setCurrentDetails(`**${status}**: ${reason}`)
  return { status, reason }
}
