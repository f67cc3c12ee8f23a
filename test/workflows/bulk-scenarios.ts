import type { BulkActivities, CoreActivities } from '../../activities/index.ts'
import type { BatchStanding } from '../../activities/bulk-life.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { recordCall, type Runs } from './runs.ts'
import { askToCancel, inOrder, inTurn, untilDetails } from './scenarios.ts'
import type { Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of the workflow of a batch or an operation. */
export interface BulkScenario extends Circumstances {
  /** Absent: there is something to work on. */
  prepare?: BulkActivities['prepareBulk']
  work: BulkActivities['workOnBulk']
  /** Absent: all tasks have ended. */
  check?: (bulkId: string) => Promise<BatchStanding>
  /** Absent: one turn cancels all. */
  cancel?: BulkActivities['cancelOpenTasks']
}

const GOES_ON = { isDone: false, waitMs: 0 }
const DONE = { isDone: true, waitMs: 0 }
const FULL = { isDone: false, waitMs: PATIENCE_MS }
const OPEN: BatchStanding = { open: 3, isCancelRequested: false }
const CANCELLED: BatchStanding = { open: 3, isCancelRequested: true }
const ENDED: BatchStanding = { open: null, isCancelRequested: false }
export const NONE = { code: 'body_required', message: 'no line' }

export const BATCH_SCENARIOS = {
  done: { work: inTurn(GOES_ON, DONE), check: inTurn(OPEN, ENDED) },
  failed: { prepare: inTurn(NONE), work: inTurn(DONE) },
  // The signal ends the wait for a quota; the row then says what it was.
  'cancelled-while-full': {
    work: inTurn(FULL, DONE),
    check: inTurn(CANCELLED, OPEN, ENDED),
    cancel: inTurn<number | null>(7, null),
    act: inOrder((handle) => untilDetails(handle, /^\*\*Working/), askToCancel),
  },
} satisfies Record<string, BulkScenario>

export const OPERATION_SCENARIOS = {
  done: { work: inTurn(GOES_ON, DONE) },
} satisfies Record<string, BulkScenario>

/** The activities of batches and operations as the scenario of each run has them. */
export const makeTestBulkActivities = (runs: Runs<BulkScenario>) => {
  const core = {
    async checkBatch(bulkId, index) {
      return (await recordCall(runs, bulkId, 'check', index).check?.(bulkId)) ?? ENDED
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
