import { setTimeout as sleep } from 'node:timers/promises'

import { ApplicationFailure, Context } from '@temporalio/activity'

import { findOpenItem, recordItem, type ItemPlace } from '../../src/tasks/db/bulk/bulk-item.ts'
import { findBulk, showWait, type BulkRow } from '../../src/tasks/db/bulk/bulk.ts'
import type { BatchRow } from '../../src/tasks/db/bulk/batch.ts'
import type { OperationRow } from '../../src/tasks/db/bulk/operation.ts'
import { isUnavailable } from '../../src/platform/db/sqlstate.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { ItemError } from '../../src/tasks/domain/bulk/bulk.ts'
import { ApiError, apiError } from '../../src/platform/domain/errors.ts'
import { listRequests, listTasks, OvertakenError, type Item } from './bulk-items.ts'
import { makePrepareBulk } from './bulk-life.ts'
import type { BulkDependencies } from './dependencies.ts'
import { describeEnd, withHeartbeat } from '../platform/heartbeat.ts'

/** Progress of the work on items. */
export interface BulkProgress {
  /** Nothing is left to do, or somebody has asked to stop. */
  isDone: boolean
  /** Milliseconds until it is worth going on. */
  waitMs: number
  /** Items that are through, and all of them. Absent: it is done. */
  place?: number
  total?: number
}

export type BulkActivities = ReturnType<typeof makeBulkActivities>

/** Makes the activities of batches and operations. Each may run twice: the row of the bulk says what was done. */
export const makeBulkActivities = (deps: BulkDependencies) => ({
  prepareBulk: makePrepareBulk(deps),

  /** Works on the items that come next, one after another, for some seconds: others have their turn then. */
  async workOnBulk(bulkId: string): Promise<BulkProgress> {
    const bulk = await findBulk(deps.sql, { id: bulkId })
    if (!bulk || isOver(bulk)) return { isDone: true, waitMs: 0 }
    if (!bulk.isMakerLive) {
      await showWait(deps.sql, bulkId, MAKER_ENDED)
      return { isDone: true, waitMs: 0 }
    }
    await deps.readRules()
    const items =
      bulk.kind === 'batch'
        ? listRequests(deps, bulk as BatchRow)
        : listTasks(deps, bulk as OperationRow)
    const { total } = bulk
    return { total, ...(await inTurns(deps, items, (item) => attempt(deps, item))) }
  },

  /** Cancels tasks of a batch from a place on, for some seconds; returns where to go on, null when it is through. */
  async cancelOpenTasks(bulkId: string, from: number): Promise<number | null> {
    let index: number | undefined = from
    const { isDone } = await inTurns(
      deps,
      listOpen(deps, { bulkId, index: from }),
      async (open) => {
        index = open.index + 1
        await cancel(deps, open)
        return undefined
      },
    )
    return isDone ? null : index
  },
})

const isOver = ({ state, isCancelRequested, nextIndex, total }: BulkRow): boolean =>
  state !== 'running' || isCancelRequested || nextIndex >= total

/** Reason of one that ends with what is left undone. */
const MAKER_ENDED = {
  code: 'unauthorized',
  message: 'The API key that it was made with, or the account of its owner, has ended.',
}

const TURN_MS = 10_000
const BEAT_MS = 1000
/** Longest pause between two items: a database that has stood still once is not waited for as long again. */
const MAX_PAUSE_MS = 1000

/** Takes items for a turn, with a pause after each that is as long as its work: what is slow already gets less of it. */
const inTurns = async <T extends { index: number }>(
  { pauseFactor, drain }: BulkDependencies,
  items: AsyncIterable<T>,
  work: (item: T) => Promise<number | undefined>,
): Promise<BulkProgress> => {
  const context = Context.current()
  const { cancellationSignal: signal } = context
  const until = performance.now() + TURN_MS
  let at = 0
  return await withHeartbeat({ beatMs: BEAT_MS, details: () => at }, async () => {
    for await (const item of items) {
      // Were it to return, the workflow would begin the next turn, which nobody has paused.
      if (context.cancellationDetails?.paused)
        throw ApplicationFailure.retryable(describeEnd(), 'attempt_ended')
      const begun = performance.now()
      if (begun > until || signal.aborted) return { isDone: false, waitMs: 0, place: item.index }
      at = item.index
      const waitMs = await work(item)
      if (waitMs !== undefined) return { isDone: false, waitMs, place: at }
      await drain()
      await sleep(Math.min(MAX_PAUSE_MS, (performance.now() - begun) * pauseFactor))
    }
    return { isDone: true, waitMs: 0 }
  })
}

/** Time until a batch that has used up a quota of its owner tries again. */
const QUOTA_MS = 5000
const IN_FLIGHT_MS = 1000
/** Attempts at an item that fails in a way that nobody has thought of, before the others go on without it. */
const MAX_ATTEMPTS = 5

/** Does what an item asks for, or records why it is rejected. Returns how long to wait; undefined: the next one comes. */
const attempt = async (
  deps: BulkDependencies,
  { place, run }: Item,
): Promise<number | undefined> => {
  try {
    await run()
    return undefined
  } catch (error) {
    // The row says what comes next.
    if (error instanceof OvertakenError) return 0
    const known = toItemError(error)
    if (!known) throw error
    // Another request with the key of the line is under way.
    if (known.code === 'idempotency_in_flight') return IN_FLIGHT_MS
    if (known.code === 'quota_exceeded') {
      await showWait(deps.sql, place.bulkId, known)
      return QUOTA_MS
    }
    if (known.code === 'internal_error') deps.log.error({ ...place, err: error }, 'item rejected')
    return (await reject(deps, place, known)) ? undefined : 0
  }
}

const reject = (deps: BulkDependencies, place: ItemPlace, error: ItemError): Promise<boolean> =>
  unitOfWork(deps, (sql) => recordItem(sql, place, { outcome: 'rejected', error }))

/** The error of a request that is rejected for good; undefined where another attempt may succeed. */
const toItemError = (error: unknown): ItemError | undefined => {
  const isLast = Context.current().info.attempt >= MAX_ATTEMPTS && !isUnavailable(error)
  const known = error instanceof ApiError || !isLast ? error : apiError('internal_error')
  if (!(known instanceof ApiError) || (known.status >= 500 && known.code !== 'internal_error'))
    return undefined
  const { code, message, details } = known
  return { code, message, ...(details && { details }) }
}

/** A task of a batch that has not ended. */
interface OpenTask {
  index: number
  taskId: string
  owner: string
}

async function* listOpen({ sql }: BulkDependencies, place: ItemPlace): AsyncGenerator<OpenTask> {
  for (let { index } = place; ;) {
    const open = await findOpenItem(sql, { ...place, index })
    if (!open) return
    yield open
    index = open.index + 1
  }
}

/** A video that is being rendered goes on. */
const cancel = async ({ act }: BulkDependencies, { taskId, owner }: OpenTask): Promise<void> => {
  try {
    await act({ action: 'cancel', taskId, owner, record: () => Promise.resolve() })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
  }
}
