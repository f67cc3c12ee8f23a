import type { WorkflowHandle } from '@temporalio/client'

import type { BulkActivities } from '../../activities/tasks/bulk.ts'
import type { CoreActivities } from '../../activities/index.ts'
import type { BatchStanding } from '../../activities/tasks/bulk-life.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'
import { recordCall, type Runs } from './runs.ts'
import { askToCancel, inOrder, inTurn, untilDetails } from './scenarios.ts'
import type { Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of the workflow of a batch or an operation. */
export interface BulkScenario extends Circumstances {
  /** Absent: there is something to work on. */
  prepare?: BulkActivities['prepareBulk']
  work: BulkActivities['workOnBulk']
  /** Absent: all tasks have ended. */
  watch?: (bulkId: string) => Promise<BatchStanding>
  /** Absent: one turn cancels all. */
  cancel?: BulkActivities['cancelOpenTasks']
}

const GOES_ON = { isDone: false, waitMs: 0 }
const DONE = { isDone: true, waitMs: 0 }
const FULL = { isDone: false, waitMs: PATIENCE_MS }
const OPEN: BatchStanding = { isWaiting: true, isCancelRequested: false, total: 9 }
const CANCELLED: BatchStanding = { isWaiting: true, isCancelRequested: true, total: 9 }
const ENDED: BatchStanding = { isWaiting: false, isCancelRequested: false, total: 9 }
export const NONE = { code: 'body_required', message: 'no line' }

/** Signals the end of the task that the batch watches, as the outbox does, once it has looked so often. */
const signalEnd =
  (looks: number) =>
  async (handle: WorkflowHandle): Promise<void> => {
    await waitFor('it waits for the task', async () => {
      const { events } = await handle.fetchHistory()
      return (events ?? []).filter((event) => event.markerRecordedEventAttributes).length >= looks
    })
    await handle.signal('taskEnded', { id: '1' })
  }

export const BATCH_SCENARIOS = {
  done: { work: inTurn(GOES_ON, DONE), watch: inTurn(OPEN, ENDED), act: signalEnd(1) },
  failed: { prepare: inTurn(NONE), work: inTurn(DONE) },
  // The signal ends the wait for a quota; the row then says what it was.
  'cancelled-while-full': {
    work: inTurn(FULL, DONE),
    watch: inTurn(CANCELLED, OPEN, ENDED),
    cancel: inTurn<number | null>(7, null),
    act: inOrder((handle) => untilDetails(handle, /^\*\*Working/), askToCancel, signalEnd(2)),
  },
} satisfies Record<string, BulkScenario>

export const OPERATION_SCENARIOS = {
  done: { work: inTurn(GOES_ON, DONE) },
} satisfies Record<string, BulkScenario>

/** The activities of batches and operations as the scenario of each run has them. */
export const makeTestBulkActivities = (runs: Runs<BulkScenario>) => {
  const core = {
    async watchBatch(bulkId) {
      return (await recordCall(runs, bulkId, 'watch').watch?.(bulkId)) ?? ENDED
    },
    finishBulk(bulkId, error) {
      recordCall(runs, bulkId, 'finish', error)
      return Promise.resolve(error ? 'failed' : 'done')
    },
  } satisfies Partial<CoreActivities>
  const bulk: BulkActivities = {
    async prepareBulk(bulkId) {
      return (await recordCall(runs, bulkId, 'prepare').prepare?.(bulkId)) ?? null
    },
    workOnBulk: (bulkId) => recordCall(runs, bulkId, 'work').work(bulkId),
    async cancelOpenTasks(bulkId, from) {
      return (await recordCall(runs, bulkId, 'cancel', from).cancel?.(bulkId, from)) ?? null
    },
  }
  return { core, bulk }
}
