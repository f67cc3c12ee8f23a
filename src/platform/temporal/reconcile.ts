import type { Sql } from '../db/client.ts'
import type { OutboxStart } from '../db/outbox.ts'
import { withLoopLock, type StalledOptions } from '../db/reconcile.ts'
import { unitOfWork, type UnitDeps } from '../db/unit-of-work.ts'
import type { Log } from '../log.ts'
import { startLoop, type Loop } from '../process/loop.ts'
import type { Metrics } from '../process/metrics.ts'
import { isOutage, type Jobs, type WorkflowState } from './client.ts'

/** Dependencies of all kinds. */
export interface ReconcileDeps extends UnitDeps {
  taskQueue: string
  jobs: Jobs
  log: Log
  metrics?: Metrics | undefined
}

/** A kind of rows with workflows: lists the rows that stand still, and acts for a row whose workflow is gone. */
export interface Reconciled<Row extends { id: string } = { id: string }> {
  list(sql: Sql, options: StalledOptions): Promise<Row[]>
  reconcile(row: Row, check: Check): Promise<void>
}

interface ReconcileOptions {
  sql: Sql
  /** A pool of one connection, which holds the lock: one process reconciles at a time. */
  lockSql: Sql
  jobs: Jobs
  log: Log
  kinds: readonly Reconciled[]
  intervalMs: number
  /** Rows that have not changed for so long are checked. */
  afterSeconds: number
}

const BATCH = 100
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * Starts the loop that finds rows without a workflow: Temporal lost its store, or somebody ended the workflow by hand.
 */
export const startReconcile = (options: ReconcileOptions): Loop =>
  startLoop(
    'reconcile',
    (signal) =>
      withLoopLock(options.lockSql, 'reconcile', async () => {
        for (const kind of options.kinds) await reconcileEach(options, signal, kind)
      }),
    options,
  )

/**
 * Returns how the workflow of a row has ended; undefined while it runs, and where the row has changed since it was
 * listed: then the workflow came to its end meanwhile, and another one would be one too many.
 */
export type Check = (
  workflowId: string,
  admission?: number,
) => Promise<Exclude<WorkflowState, 'open'> | undefined>

const reconcileEach = async (
  { sql, jobs, log, afterSeconds }: ReconcileOptions,
  signal: AbortSignal,
  kind: Reconciled,
): Promise<void> => {
  const checkFor =
    ({ id }: { id: string }): Check =>
    async (workflowId, admission) => {
      const state = await jobs.check(workflowId, admission)
      if (state === 'open') return undefined
      const stalled = await kind.list(sql, { afterSeconds, ids: { only: id }, limit: 1 })
      return stalled.length > 0 ? state : undefined
    }
  let after = BEFORE_ALL
  for (;;) {
    const rows = await kind.list(sql, { afterSeconds, ids: { after }, limit: BATCH })
    for (const row of rows) {
      if (signal.aborted) return
      await kind.reconcile(row, checkFor(row)).catch((error: unknown) => {
        if (isOutage(error)) throw error
        log.error({ id: row.id, err: error }, 'not reconciled')
      })
    }
    const last = rows.at(-1)
    if (!last || rows.length < BATCH) return
    after = last.id
  }
}

/** Starts the workflow of a row again. */
export const startAgain = (deps: UnitDeps, start: OutboxStart): Promise<void> =>
  unitOfWork(deps, (_sql, enqueue) => enqueue(start))
