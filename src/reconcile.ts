import { failAnyTask, startAnyTask } from './any-task.ts'
import type { AnyTask, AnyTaskOptions } from './any-task.ts'
import type { Sql } from './db/client.ts'
import { listStillDeliveries } from './db/delivery.ts'
import { insertOutbox } from './db/outbox.ts'
import type { OutboxRow } from './db/outbox.ts'
import { listStillTasks, withReconcileLock } from './db/reconcile.ts'
import { startDelivery, taskWorkflowId } from './jobs.ts'
import type { Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import { startLoop } from './loop.ts'
import type { Loop } from './loop.ts'

export interface ReconcileOptions extends AnyTaskOptions {
  /** A pool of one connection, which holds the lock of the process that reconciles. */
  lockSql: Sql
  jobs: Jobs
  log: Log
  intervalMs: number
  /** Stillness after which a task is looked at. */
  afterSeconds: number
}

const BATCH = 100
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Starts the loop that finds tasks whose workflow is gone, because Temporal lost its store or somebody ended it by hand. */
export const startReconcile = (options: ReconcileOptions): Loop =>
  startLoop(
    'reconcile',
    (signal) =>
      withReconcileLock(options.lockSql, async () => {
        await reconcile(options, signal)
        await reconcileDeliveries(options, signal)
      }),
    options,
  )

const reconcile = async (options: ReconcileOptions, signal: AbortSignal): Promise<void> => {
  let after = BEFORE_ALL
  for (;;) {
    const tasks = await listStillTasks(options.sql, { ...options, after, limit: BATCH })
    for (const task of tasks) {
      if (signal.aborted) return
      await reconcileTask(options, task)
    }
    const last = tasks.at(-1)
    if (!last || tasks.length < BATCH) return
    after = last.id
  }
}

const reconcileTask = async (options: ReconcileOptions, task: AnyTask): Promise<void> => {
  const state = await options.jobs.look(taskWorkflowId(task.family, task.id))
  if (state === 'open') return
  options.log.warn({ task_id: task.id, workflow: state }, 'reconciled')
  const rows =
    state === 'missing'
      ? [await startAgain(options, task)]
      : await failAnyTask(task, 'workflow_lost', options)
  for (const row of rows ?? []) options.jobs.kick(row)
}

const startAgain = async (options: ReconcileOptions, task: AnyTask): Promise<OutboxRow> => {
  const start = startAnyTask(task, `${task.kind}, started again, for ${task.owner}`, options)
  return await options.sql.begin((sql) => insertOutbox(sql, start))
}

/** Finds events that nobody sends any more, and starts their delivery again. */
const reconcileDeliveries = async (
  options: ReconcileOptions,
  signal: AbortSignal,
): Promise<void> => {
  const { sql, jobs, log } = options
  for (const task of await listStillDeliveries(sql, { ...options, limit: BATCH })) {
    if (signal.aborted) return
    const start = { ...startDelivery(task, options), kind: 'restart' as const }
    const state = await jobs.look(start.workflowId)
    if (state === 'open') continue
    log.warn({ task_id: task.taskId, workflow: state }, 'delivery of events reconciled')
    jobs.kick(await sql.begin((sql) => insertOutbox(sql, start)))
  }
}
