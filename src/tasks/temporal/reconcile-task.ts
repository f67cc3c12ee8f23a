import { listStalledBulks, type StalledBulk } from '../db/bulk/bulk.ts'
import type { AdmissionRules, TaskToStart } from '../db/admission.ts'
import { listStalledTasks } from '../db/operator.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { failTask } from '../fail.ts'
import { startBulk } from './bulk.ts'
import {
  startAgain,
  type Check,
  type Reconciled,
  type ReconcileDeps,
} from '../../platform/temporal/reconcile.ts'
import { taskWorkflowId } from './task.ts'

type Options = ReconcileDeps & AdmissionRules

/** Makes the kinds of tasks, and of the work on many. */
export const makeReconciledTasks = (options: Options): Reconciled[] => [
  {
    list: listStalledTasks,
    reconcile: (task: TaskToStart, check) => reconcileTask(options, task, check),
  },
  {
    list: listStalledBulks,
    reconcile: (bulk: StalledBulk, check) => reconcileBulk(options, bulk, check),
  },
]

const reconcileTask = async (options: Options, task: TaskToStart, check: Check): Promise<void> => {
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

/** Starts the lost workflow of a batch or an operation again, also one that somebody has ended: it is cancelled by its route. */
const reconcileBulk = async (options: Options, bulk: StalledBulk, check: Check): Promise<void> => {
  const start = startBulk(bulk, options)
  const state = await check(start.workflowId)
  if (state === undefined) return
  options.log.warn({ bulk_id: bulk.id, workflow: state }, 'bulk reconciled')
  options.metrics?.reconciled.inc({ what: bulk.kind, workflow: state })
  await startAgain(options, { ...start, kind: state === 'missing' ? 'start' : 'restart' })
}
