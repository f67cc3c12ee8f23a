import { randomUUID } from 'node:crypto'

import { withinDeadline, type Transaction } from '../platform/db/client.ts'
import { toLimitError } from './db/account.ts'
import { admitOwner } from './db/admission.ts'
import { insertTask, type NewTask } from './db/insert-task.ts'
import { existsTask } from './db/task.ts'
import { isOutcomeUnknown, unitOfWork, type Enqueue } from '../platform/db/unit-of-work.ts'
import { ANONYMOUS } from '../platform/domain/account.ts'
import { FAMILIES } from './domain/family.ts'
import { readTaskOptions } from './domain/task-options.ts'
import type { Creation, SavedCommand, TaskPlan } from './creation.ts'
import type { TaskDeps } from './deps.ts'
import { storeInputs } from './inputs.ts'

/**
 * Makes a task durable, together with the start of its workflow if nothing blocks it, and with what the command saves, whose
 * result it returns. Throws 402 and 429. When the task is rejected, its files are removed. When its commit is in doubt they
 * must stay, because it may exist.
 */
export const createTask = async <Result>(
  deps: TaskDeps,
  creation: Creation,
  command: SavedCommand<Result>,
): Promise<Result> => {
  const plan = await creation.plan(command)
  const id = randomUUID()
  try {
    return await makeDurable(deps, { id, plan, command })
  } catch (error) {
    if (!isOutcomeUnknown(error)) await deps.storage.removePrefix(`inputs/${id}`).catch(() => {})
    throw error
  }
}

interface Planned<Result> {
  id: string
  plan: TaskPlan
  command: SavedCommand<Result>
}

const makeDurable = async <Result>(
  deps: TaskDeps,
  { id, plan, command }: Planned<Result>,
): Promise<Result> => {
  const { kind, credits, members, source, limits } = plan
  const { owner, account, apiKeyId, inline } = command
  const stored = await storeInputs(deps, { id, members, inline })
  const inputs = source ? [...stored, source] : stored
  const engine = plan.engine ?? deps.engineOf(kind, owner)
  const options = {
    ...readTaskOptions(command.body as Record<string, unknown>),
    batchId: command.batchId,
    runAgainOf: command.runAgainOf,
  }
  const task = { ...plan, id, owner, account, apiKeyId, engine, options, inputs }
  const summary = plan.summarise?.(inputs)
  const make = async (sql: Transaction, enqueue: Enqueue): Promise<Result> => {
    // Sent together, in this order: the start needs to know whether the task is admitted.
    const createdAt = insertTask(sql, task, limits)
    const begun = begin(deps, task, { sql, enqueue, summary })
    const save = async (): Promise<Result> => {
      const response = await plan.respond({ id, engine, inputs, createdAt })
      return await command.save(sql, { id, response })
    }
    const [result] = await Promise.all([save(), createdAt, begun])
    return result
  }
  const wasCommitted = () => existsTask(deps.sql, id)
  const result = await unitOfWork(deps, make, { at: 'create', wasCommitted }).catch(
    async (error: unknown) => {
      const used = { account, credits, retentionDays: limits.quota?.retentionDays }
      throw await withinDeadline(deps.sql, toLimitError(deps.sql, error, used))
    },
  )
  // The lock of all who have no credential is taken for a moment. What is lost here, the next pass admits.
  if (isShared(task))
    await unitOfWork(deps, (sql, enqueue) => admitOwner(sql, { ...deps, owner, enqueue })).catch(
      () => {},
    )
  return result
}

const isShared = ({ family, owner }: Pick<NewTask, 'family' | 'owner'>): boolean =>
  FAMILIES[family].takesSlots && owner === ANONYMOUS

interface Beginning {
  sql: Transaction
  enqueue: Enqueue
  summary: string | undefined
}

/** Starts a task that nothing blocks. All tasks of an owner of slots need its lock, so it is taken last of all. */
const begin = async (
  deps: TaskDeps,
  task: NewTask & Pick<Required<NewTask>, 'engine' | 'options'>,
  { sql, enqueue, summary }: Beginning,
): Promise<void> => {
  const { id, family, owner, options } = task
  if (isShared(task)) return
  if (FAMILIES[family].takesSlots) await admitOwner(sql, { ...deps, owner, enqueue })
  else {
    const start = deps.startOf({ ...task, ...options, admission: 1, offPeak: false }, summary)
    await enqueue(start, { ifAdmitted: id })
  }
}
