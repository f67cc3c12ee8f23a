import { failTask } from '../tasks/fail.ts'
import type { Sql } from '../db/client.ts'
import { listStillBulks, type StillBulk } from '../db/bulk/bulk.ts'
import { listStillDeliveries, listStillRedeliveries } from '../db/event/delivery.ts'
import type { StillDelivery, StillRedelivery } from '../db/event/delivery.ts'
import { unitOfWork, type UnitDeps } from '../db/unit-of-work.ts'
import type { AdmissionRules, TaskToStart } from '../db/task/admission.ts'
import type { OutboxStart } from '../db/shared/outbox.ts'
import { listStillExtractions, listStillVersions } from '../db/registry/open-version.ts'
import type { OpenVersion } from '../db/registry/open-version.ts'
import { listStillTasks, withLoopLock } from '../db/task/reconcile.ts'
import type { StillOptions } from '../db/task/reconcile.ts'
import { giveUpChecks } from '../db/registry/version-transition.ts'
import type { CheckErrorCode } from '../domain/registry/archive-check.ts'
import type { CheckTiming } from '../domain/registry/check-timing.ts'
import { startBulk } from './bulk.ts'
import { startDelivery, startRedelivery } from './event.ts'
import { taskWorkflowId } from './task.ts'
import { publishWorkflowId, startExtraction, startPublishVersion } from './version.ts'
import { isOutage } from './client.ts'
import type { Jobs, WorkflowState } from './client.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../process/metrics.ts'
import { startLoop } from '../process/loop.ts'
import type { Loop } from '../process/loop.ts'

export interface ReconcileOptions extends UnitDeps, AdmissionRules {
  taskQueue: string
  /** A pool of one connection, which holds the lock: one process reconciles at a time. */
  lockSql: Sql
  jobs: Jobs
  log: Log
  /** Durations that a version's workflow starts with. */
  checkTiming?: Partial<CheckTiming>
  intervalMs: number
  metrics?: Metrics | undefined
  /** Reconcile looks at a task or version that has not changed for so long. */
  afterSeconds: number
}

const BATCH = 100
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * Starts the loop that finds tasks, deliveries and versions without a workflow: Temporal lost its store, or somebody ended
 * the workflow by hand.
 */
export const startReconcile = (options: ReconcileOptions): Loop =>
  startLoop(
    'reconcile',
    (signal) =>
      withLoopLock(options.lockSql, 'reconcile', async () => {
        await reconcileEach(options, signal, listStillTasks, reconcileTask)
        await reconcileEach(options, signal, listStillDeliveries, reconcileDelivery)
        await reconcileEach(options, signal, listStillRedeliveries, reconcileRedelivery)
        await reconcileEach(options, signal, listStillVersions, reconcileVersion)
        await reconcileEach(options, signal, listStillExtractions, reconcileExtraction)
        await reconcileEach(options, signal, listStillBulks, reconcileBulk)
      }),
    options,
  )

type List<Row> = (sql: Sql, options: StillOptions) => Promise<Row[]>

/**
 * Returns how the workflow of a row has ended; undefined while it runs, and where the row has changed since it was
 * listed: then the workflow came to its end meanwhile, and another one would be one too many.
 */
type Check = (
  workflowId: string,
  admission?: number,
) => Promise<Exclude<WorkflowState, 'open'> | undefined>

const reconcileEach = async <Row extends { id: string }>(
  options: ReconcileOptions,
  signal: AbortSignal,
  list: List<Row>,
  act: (options: ReconcileOptions, row: Row, check: Check) => Promise<void>,
): Promise<void> => {
  const { sql, jobs, afterSeconds } = options
  const checkFor =
    ({ id }: Row): Check =>
    async (workflowId, admission) => {
      const state = await jobs.check(workflowId, admission)
      if (state === 'open') return undefined
      const still = await list(sql, { afterSeconds, ids: { only: id }, limit: 1 })
      return still.length > 0 ? state : undefined
    }
  let after = BEFORE_ALL
  for (;;) {
    const rows = await list(sql, { afterSeconds, ids: { after }, limit: BATCH })
    for (const row of rows) {
      if (signal.aborted) return
      await act(options, row, checkFor(row)).catch((error: unknown) => {
        if (isOutage(error)) throw error
        options.log.error({ id: row.id, err: error }, 'not reconciled')
      })
    }
    const last = rows.at(-1)
    if (!last || rows.length < BATCH) return
    after = last.id
  }
}

const reconcileTask = async (
  options: ReconcileOptions,
  task: TaskToStart,
  check: Check,
): Promise<void> => {
  const state = await check(taskWorkflowId(task.family, task.id), task.admission)
  if (state === undefined) return
  options.log.warn({ task_id: task.id, workflow: state }, 'reconciled')
  options.metrics?.reconciled.inc({ what: 'task', workflow: state })
  if (state !== 'closed') {
    const start = options.startOf(task, `${task.kind}, started again, for ${task.owner}`)
    return await startAgain(options, state === 'missing' ? start : { ...start, kind: 'restart' })
  }
  const code = 'workflow_lost'
  await unitOfWork(options, (sql, enqueue) => failTask(sql, task, { ...options, code, enqueue }))
}

/** Makes an open delivery check again: it may wait for a signal that was lost. */
const reconcileDelivery = async (
  options: ReconcileOptions,
  { id, kind, owner }: StillDelivery,
  check: Check,
): Promise<void> => {
  const start = startDelivery({ taskId: id, kind, owner }, options)
  const state = await check(start.workflowId)
  if (state === undefined) return await options.jobs.announceEvent(id)
  options.log.warn({ task_id: id, workflow: state }, 'delivery of events reconciled')
  options.metrics?.reconciled.inc({ what: 'delivery', workflow: state })
  await startAgain(options, { ...start, kind: 'restart' })
}

const reconcileRedelivery = async (
  options: ReconcileOptions,
  { id, owner }: StillRedelivery,
  check: Check,
): Promise<void> => {
  const start = startRedelivery({ redeliveryId: id, owner }, options)
  const state = await check(start.workflowId)
  if (state === undefined) return
  options.log.warn({ redelivery_id: id, workflow: state }, 'redelivery reconciled')
  options.metrics?.reconciled.inc({ what: 'redelivery', workflow: state })
  await startAgain(options, { ...start, kind: 'restart' })
}

/**
 * Starts the lost workflow of a Pending version again. If somebody closed it by hand and there is an archive, the checks
 * give up instead: only an operator knows why they were ended. Without an archive nothing was checked yet, and a workflow
 * must take the upload or end the version.
 */
const reconcileVersion = async (
  options: ReconcileOptions,
  version: OpenVersion,
  check: Check,
): Promise<void> => {
  const summary = `publish ${version.nodeId}@${version.version}, started again`
  const start = startPublishVersion({ ...version, versionId: version.id, summary }, options)
  const state = await check(start.workflowId)
  if (state === undefined) return
  options.log.warn({ version_id: version.id, workflow: state }, 'version reconciled')
  options.metrics?.reconciled.inc({ what: 'version', workflow: state })
  if (state === 'closed' && version.archiveState !== 'awaiting')
    await unitOfWork(options, (sql) =>
      giveUpChecks(sql, { id: version.id, code: 'workflow_lost' satisfies CheckErrorCode }),
    )
  else await startAgain(options, { ...start, kind: state === 'missing' ? 'start' : 'restart' })
}

/** Leaves an extraction alone while either of its workflows runs. */
const reconcileExtraction = async (
  options: ReconcileOptions,
  version: OpenVersion,
  check: Check,
): Promise<void> => {
  const start = startExtraction({ ...version, versionId: version.id }, options)
  const states = [await check(start.workflowId), await check(publishWorkflowId(version.id))]
  if (states.includes(undefined)) return
  options.log.warn({ version_id: version.id }, 'extraction of host nodes reconciled')
  options.metrics?.reconciled.inc({ what: 'extraction', workflow: 'missing' })
  await startAgain(options, start)
}

/** Starts the lost workflow of a batch or an operation again, also one that somebody has ended: it is cancelled by its route. */
const reconcileBulk = async (
  options: ReconcileOptions,
  bulk: StillBulk,
  check: Check,
): Promise<void> => {
  const start = startBulk(bulk, options)
  const state = await check(start.workflowId)
  if (state === undefined) return
  options.log.warn({ bulk_id: bulk.id, workflow: state }, 'bulk reconciled')
  options.metrics?.reconciled.inc({ what: bulk.kind, workflow: state })
  await startAgain(options, { ...start, kind: state === 'missing' ? 'start' : 'restart' })
}

const startAgain = (options: ReconcileOptions, start: OutboxStart): Promise<void> =>
  unitOfWork(options, (_sql, enqueue) => enqueue(start))
