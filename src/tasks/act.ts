import type { Transaction } from '../platform/db/client.ts'
import { findTaskDetail } from './db/task-detail.ts'
import { unitOfWork } from '../platform/db/unit-of-work.ts'
import type { OperationAction } from './domain/bulk/operation.ts'
import { ANONYMOUS } from '../platform/domain/account.ts'
import { apiError, errors } from '../platform/domain/errors.ts'
import { cancelTask } from './cancel.ts'
import { deleteTask, type DeletionDeps } from './delete.ts'
import { makeRequest, showInputs } from './request-of.ts'
import type { TaskReadDeps } from './deps.ts'
import type { Submit } from './submit.ts'

export interface ActDeps extends DeletionDeps, TaskReadDeps {
  submit: Submit
  /** Sends the exhausted events of a task again; returns how many. */
  redeliver(sql: Transaction, task: { id: string; owner: string }): Promise<number>
}

export interface ActOn {
  action: OperationAction
  taskId: string
  owner: string
  /** Records in the transaction of the effect what it has brought; what it throws rolls that back. */
  record(sql: Transaction, result?: object): Promise<void>
}

/** Does with a task what the route for one task does. Throws what that would respond with. */
export type Act = (item: ActOn) => Promise<void>

export const makeAct =
  (deps: ActDeps): Act =>
  (item) =>
    ACTIONS[item.action](deps, item)

type Action = (deps: ActDeps, item: ActOn) => Promise<void>

const cancel: Action = (deps, { taskId: id, owner, record }) =>
  cancelTask(deps, { id, owner }, { record })

/** A video that is being rendered is deleted at its end: an operation cannot come back for it. */
const remove: Action = async (deps, { taskId: id, owner, record }) => {
  await deleteTask(deps, { id, owner }, { when: 'ended', record })
}

const redeliver: Action = (deps, { taskId: id, owner, record }) =>
  unitOfWork(deps, async (sql) => {
    const redeliveries = await deps.redeliver(sql, { id, owner })
    if (redeliveries === 0)
      throw apiError('not_deliverable', 'The task has no exhausted event that is not under way.')
    await record(sql, { redeliveries })
  })

/** The owner of a task sees addresses with their queries. */
const asGiven = (url: string): string => url

const runAgain: Action = async (deps, { taskId: id, owner, record }) => {
  const task = await findTaskDetail(deps.sql, { id, owner, isAdmin: false })
  if (!task) throw errors.taskNotFound(id)
  if (owner === ANONYMOUS)
    throw apiError('forbidden', 'The task was made without a credential: nobody can be charged.')
  if (task.item.deleted_at !== undefined)
    throw apiError('file_gone', 'The task is deleted, and its inputs with it.')
  const sign = (name: string): string => deps.signer.signFile(id, name, deps.now())
  const request = makeRequest(task, showInputs(task, { show: asGiven, sign }), asGiven)
  await deps.submit({
    path: request.path,
    body: { ...request.body },
    owner,
    runAgainOf: id,
    record: (sql, made) => record(sql, { task_id: made.id }),
  })
}

const ACTIONS: Record<OperationAction, Action> = {
  cancel,
  delete: remove,
  redeliver,
  run_again: runAgain,
}
