import type { Sql } from './db/client.ts'
import { moveImageTask } from './db/image-task.ts'
import { insertOutbox } from './db/outbox.ts'
import { listStillTasks, withReconcileLock } from './db/reconcile.ts'
import type { StillTask } from './db/reconcile.ts'
import type { RenderTiming } from './domain/render-timing.ts'
import { TASK_FAULTS } from './domain/task-fault.ts'
import { imageTaskWorkflowId, startImageTask } from './jobs.ts'
import type { Jobs } from './jobs.ts'
import type { Log } from './log.ts'
import { startLoop } from './loop.ts'
import type { Loop } from './loop.ts'

export interface ReconcileOptions {
  sql: Sql
  /** A pool of one connection, which holds the lock of the process that reconciles. */
  lockSql: Sql
  jobs: Jobs
  log: Log
  intervalMs: number
  /** Stillness after which a task is looked at. */
  afterSeconds: number
  taskQueue: string
  timing: RenderTiming
}

const BATCH = 100
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Starts the loop that finds tasks whose workflow is gone, because Temporal lost its store or somebody ended it by hand. */
export const startReconcile = (options: ReconcileOptions): Loop =>
  startLoop(
    'reconcile',
    (signal) => withReconcileLock(options.lockSql, () => reconcile(options, signal)),
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

const reconcileTask = async (options: ReconcileOptions, task: StillTask): Promise<void> => {
  const state = await options.jobs.look(imageTaskWorkflowId(task.id))
  if (state === 'open') return
  options.log.warn({ task_id: task.id, workflow: state }, 'reconciled')
  if (state === 'missing') await startAgain(options, task)
  else await fail(options.sql, task)
}

const startAgain = async (
  { sql, jobs, taskQueue, timing }: ReconcileOptions,
  { id, kind, owner }: StillTask,
): Promise<void> => {
  const facts = { taskId: id, kind, owner, summary: `${kind}, started again, for ${owner}` }
  const row = await sql.begin((sql) =>
    insertOutbox(sql, startImageTask(facts, { taskQueue, timing })),
  )
  jobs.kick(row)
}

const fail = async (sql: Sql, { id }: StillTask): Promise<void> => {
  const error = { code: 'workflow_lost', message: TASK_FAULTS.workflow_lost }
  await sql.begin((sql) => moveImageTask(sql, { id, to: 'FAILED', error }))
}
