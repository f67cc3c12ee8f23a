import { ApplicationFailure } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

import type { CoreActivities } from '../../activities/index.ts'
import type { MediaActivities } from '../support/media.ts'
import type { ArchiveWait } from '../../activities/registry/version.ts'
import { waitFor } from '../support/wait.ts'
import { getRun, recordCall, type Runs } from './runs.ts'
import {
  attempt,
  cancel,
  inOrder,
  inTurn,
  silentAtFirst,
  untilCancelled,
  untilHeartbeat,
} from './scenarios.ts'
import type { Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of the workflows of a version. */
export interface VersionScenario extends Circumstances {
  /** Absent: the archive is there. */
  finishUpload?: CoreActivities['finishUpload']
  check: MediaActivities['inspectArchive']
  /** Result of storing the host nodes; absent: they are stored. */
  extraction?: CoreActivities['finishExtraction']
  decide?: CoreActivities['decideVersion']
  /** Status of the version when its checks are given up. */
  givenUp?: Awaited<ReturnType<CoreActivities['giveUpChecks']>>
  /** Runs while they are given up. */
  whileGivingUp?(): Promise<void>
}

const PENDING = 'NodeVersionStatusPending'
const ARRIVED: ArchiveWait = { status: PENDING, hasArchive: true, waitMs: 0 }
const AWAITED: ArchiveWait = { status: PENDING, hasArchive: false, waitMs: 60_000 }
const EXPIRED: ArchiveWait = { status: 'NodeVersionStatusDeleted', hasArchive: false, waitMs: 0 }

type ExtractionFinished = Awaited<ReturnType<CoreActivities['finishExtraction']>>
const SETTLED: ExtractionFinished = { result: 'settled', status: 'success', detail: '3 host nodes' }
const MISSING: ExtractionFinished = { result: 'missing', status: 'pending', detail: '0 host nodes' }

const accepted = (): Promise<{ archiveState: 'accepted' }> =>
  Promise.resolve({ archiveState: 'accepted' })

const rejected = (nonRetryable: boolean): Promise<never> =>
  Promise.reject(
    ApplicationFailure.create({ message: 'the store', type: 'storage_failed', nonRetryable }),
  )

/** Fails so many times; the last attempt there is fails for good. */
export const failing =
  (times: number): MediaActivities['inspectArchive'] =>
  async (_versionId, attempts) =>
    attempt() > times ? await accepted() : await rejected(attempt() === attempts)

/** A child of a run: the one that waits for the upload, unless said. */
export const childOf = (
  { client, workflowId }: WorkflowHandle,
  prefix = 'receive-archive/',
): WorkflowHandle => client.getHandle(workflowId.replace('publish-version/', prefix))

/** Signals the child of the upload, as the outbox does, once it waits. */
const signalUpload = async (handle: WorkflowHandle): Promise<void> => {
  const child = childOf(handle)
  await waitFor('the child waits', async () => {
    const { events } = await child.fetchHistory().catch(() => ({ events: [] }))
    return events?.some((event) => event.timerStartedEventAttributes)
  })
  await child.signal('archiveUploaded', { id: '1' })
}

const untilReading = async (handle: WorkflowHandle): Promise<WorkflowHandle> => {
  const child = childOf(handle, 'extract-host-nodes/')
  await waitFor('the child is there', () => child.describe().catch(() => undefined))
  await untilHeartbeat(child)
  return child
}

export const VERSION_SCENARIOS = {
  active: { check: accepted },
  'uploaded-later': { finishUpload: inTurn(AWAITED, ARRIVED), check: accepted, act: signalUpload },
  'looked-again': { finishUpload: inTurn({ ...AWAITED, waitMs: 100 }, ARRIVED), check: accepted },
  expired: { finishUpload: inTurn({ ...AWAITED, waitMs: 100 }, EXPIRED), check: accepted },
  'deleted-before-checks': { finishUpload: inTurn(EXPIRED), check: accepted },
  flagged: {
    check: () => Promise.resolve({ archiveState: 'rejected' as const }),
    decide: inTurn({ status: 'NodeVersionStatusFlagged', result: 'archive rejected: truncated' }),
  },
  'checked-again': { check: failing(2) },
  'worker-lost': { check: silentAtFirst(accepted), heartbeatSeconds: 1 },
  'given-up': { check: failing(3) },
  'deleted-while-failing': { check: failing(3), givenUp: 'NodeVersionStatusDeleted' },
  'never-read': { check: accepted, extraction: () => Promise.resolve(MISSING) },
  'cancelled-by-operator': { check: untilCancelled, act: inOrder(untilReading, cancel) },
  'reading-ended-by-hand': {
    check: untilCancelled,
    act: async (handle) => (await untilReading(handle)).terminate('by hand'),
  },
} satisfies Record<string, VersionScenario>

/** The activities of versions as the scenario of each run has them. */
export const makeVersionActivities = (runs: Runs<VersionScenario>) => {
  const core = {
    async finishUpload(versionId) {
      const scenario = recordCall(runs, versionId, 'finish upload')
      return (await scenario.finishUpload?.(versionId)) ?? ARRIVED
    },
    async startChecks(versionId) {
      recordCall(runs, versionId, 'start')
      return undefined
    },
    async decideVersion(versionId) {
      const scenario = recordCall(runs, versionId, 'decide')
      const usual = { status: 'NodeVersionStatusActive', result: 'archive accepted' } as const
      return (await scenario.decide?.(versionId)) ?? usual
    },
    async giveUpChecks(versionId, code) {
      const scenario = recordCall(runs, versionId, 'give up', code)
      await scenario.whileGivingUp?.()
      return scenario.givenUp ?? PENDING
    },
    async finishExtraction(versionId) {
      const scenario = recordCall(runs, versionId, 'extract')
      return (await scenario.extraction?.(versionId)) ?? SETTLED
    },
    async failExtraction(versionId, reason) {
      recordCall(runs, versionId, 'fail extraction', reason)
      return 'failed'
    },
  } satisfies Partial<CoreActivities>
  const media = {
    inspectArchive: (versionId, attempts) =>
      getRun(runs, versionId).scenario.check(versionId, attempts),
    checkArchive: () => Promise.resolve({}),
    reextractVersion: () => Promise.resolve({ extractorVersion: 1 }),
    rescanVersion: () => Promise.resolve({ scannerVersion: 1 }),
  } satisfies Partial<MediaActivities>
  return { core, media }
}
