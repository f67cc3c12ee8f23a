import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client'
import { TimeoutFailure } from '@temporalio/common'

import type { ArchiveToCheck } from '../../../activities/registry/check-archive.ts'
import type { ArchiveCheckEnd, checkArchive } from '../../../workflows/registry/check-archive.ts'
import { errors } from '../../platform/domain/errors.ts'
import { untilAborted } from '../../platform/domain/until-aborted.ts'
import { toSearchAttributes, type Jobs } from '../../platform/temporal/client.ts'
import { BELOW_NORMAL_PRIORITY, startOptions } from '../../platform/temporal/start.ts'
import type { CheckTiming } from '../domain/check-timing.ts'

/** Checks of one owner at once. Each has an id of its own, so that Temporal counts them for all apis. */
export const CHECKS_AT_ONCE = 2

/** Time after the deadline in which the workflow says that it has come. Without a core worker it says nothing. */
const GRACE_SECONDS = 10

export interface CheckStarts {
  jobs: Pick<Jobs, 'client' | 'check'>
  taskQueue: string
  checkTiming: Partial<CheckTiming>
  /** ARCHIVE_CHECK_SECONDS */
  archiveCheckSeconds: number
}

const describeStart = (owner: string) => {
  const facts = { kind: 'check', owner, summary: 'check of an archive before its publication' }
  const options = startOptions(facts, { status: 'reading', priorityKey: BELOW_NORMAL_PRIORITY })
  const ids = Array.from(
    { length: CHECKS_AT_ONCE },
    (_, index) => `check-archive/${options.fairnessKey}/${index + 1}`,
  )
  return { options, ids }
}

/** True while an owner may begin another check. */
export const mayCheck = async (owner: string, { jobs }: CheckStarts): Promise<boolean> => {
  const states = await Promise.all(describeStart(owner).ids.map((id) => jobs.check(id)))
  return states.some((state) => state !== 'open')
}

/** Runs a check, behind all versions, to its end. `taken`: as many of its owner run as may. Throws 503. */
export const runArchiveCheck = async (
  upload: ArchiveToCheck,
  { owner, signal, ...starts }: CheckStarts & { owner: string; signal: AbortSignal },
): Promise<ArchiveCheckEnd | 'taken'> => {
  const late = AbortSignal.timeout((starts.archiveCheckSeconds + 2 * GRACE_SECONDS) * 1000)
  let handle: CheckHandle | undefined
  try {
    handle = await start(upload, owner, starts)
    if (!handle) return 'taken'
    // The result is asked for again and again, and the client would look at a signal of its own in the first call alone.
    return await untilAborted(handle.result(), AbortSignal.any([signal, late]))
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof TimeoutFailure) return 'late'
    // Nobody waits for it any more.
    await handle?.cancel().catch(() => {})
    throw errors.unavailable(error)
  }
}

type CheckHandle = WorkflowHandle<typeof checkArchive>

const start = async (
  upload: ArchiveToCheck,
  owner: string,
  { jobs, taskQueue, checkTiming, archiveCheckSeconds }: CheckStarts,
): Promise<CheckHandle | undefined> => {
  const { options, ids } = describeStart(owner)
  for (const workflowId of ids)
    try {
      return await jobs.client.workflow.start<typeof checkArchive>('checkArchive', {
        workflowId,
        taskQueue,
        args: [upload, { ...checkTiming, deadlineSeconds: archiveCheckSeconds }],
        staticSummary: options.summary,
        typedSearchAttributes: toSearchAttributes(options),
        priority: { priorityKey: options.priorityKey, fairnessKey: options.fairnessKey },
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        workflowExecutionTimeout: (archiveCheckSeconds + GRACE_SECONDS) * 1000,
      })
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    }
  return undefined
}
