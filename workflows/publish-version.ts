import {
  ApplicationFailure,
  CancellationScope,
  executeChild,
  isCancellation,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow'

import type { CoreActivities } from '../activities/index.ts'
import type { CheckTiming } from '../src/domain/registry/check-timing.ts'
import { extractHostNodes } from './extract-host-nodes.ts'
import { checkErrorOf } from './failure.ts'
import { transitionOptions } from './options.ts'
import { receiveArchive } from './receive-archive.ts'
import { showTaskEnd } from './task.ts'
import type { TaskEnd } from './task.ts'

export interface PublishVersionInput {
  versionId: string
  /** Differences from the usual durations. */
  timing?: Partial<CheckTiming>
}

/**
 * Takes a version from its publication to its decision: receives the archive, has it read, decides. Started again it does
 * what is left. It fails only when the archive could not be read, which is then for an operator to retry.
 */
export const publishVersion = async (input: PublishVersionInput): Promise<TaskEnd> => {
  const { versionId } = input
  const { decideVersion } = proxyLocalActivities<CoreActivities>(transitionOptions)
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
    return await giveUp(versionId, error)
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
 * somebody has moved meanwhile needs none.
 */
const giveUp = async (versionId: string, error: unknown): Promise<TaskEnd> => {
  const { giveUpChecks } = proxyLocalActivities<CoreActivities>(transitionOptions)
  const code = checkErrorOf(error)
  const status = await CancellationScope.nonCancellable(() => giveUpChecks(versionId, code))
  const end = showTaskEnd(status, code)
  if (isCancellation(error)) throw error
  if (status !== 'NodeVersionStatusPending') return end
  throw ApplicationFailure.nonRetryable('the checks could not run', code)
}
