import { WorkflowNotFoundError } from '@temporalio/client'

import type { Sql } from './db/client.ts'
import { moveImageTask } from './db/image-task.ts'
import { findTask, listStuckTasks } from './db/operator.ts'
import type { OpenTask } from './db/operator.ts'
import { insertOutbox, listOldestOutbox } from './db/outbox.ts'
import type { RenderTiming } from './domain/render-timing.ts'
import { TASK_FAULTS } from './domain/task-fault.ts'
import { cancelImageTask, startImageTask } from './jobs.ts'
import type { Jobs } from './jobs.ts'

export interface CommandDeps {
  sql: Sql
  jobs: Jobs
  taskQueue: string
  timing: RenderTiming
}

/** A fault the operator can act on; its message names the next step. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** What an operator can do by hand. Each command answers what it did, in lines for a terminal. */
export const makeCommands = (deps: CommandDeps) => ({
  stuck: async (): Promise<string> => {
    const tasks = await listStuckTasks(deps.sql)
    const rows = await listOldestOutbox(deps.sql)
    return [
      `${tasks.length} tasks have not moved for 10 minutes`,
      ...tasks.map(
        (task) => `  ${task.id}  ${task.status}  ${task.kind}  ${task.owner}  since ${task.since}`,
      ),
      `${rows.length} rows of the outbox wait for Temporal`,
      ...rows.map(
        (row) => `  ${row.workflow_id}  ${row.kind}  tries ${row.tries}  ${row.last_error ?? ''}`,
      ),
    ].join('\n')
  },
  restart: (id: string): Promise<string> => restart(deps, id),
  fail: (id: string): Promise<string> => fail(deps, id),
  purge: async (): Promise<string> => {
    await deps.jobs.client.schedule.getHandle('purge-expired').trigger()
    return 'the workflow purge-expired was started; the Temporal UI shows what it removes'
  },
})

/** The open workflow is ended first: its late steps can change nothing once the new one has claimed a fence. */
const restart = async (
  { sql, jobs, taskQueue, timing }: CommandDeps,
  id: string,
): Promise<string> => {
  const { kind, owner } = await getOpenTask(sql, id)
  const facts = {
    taskId: id,
    kind,
    owner,
    summary: `${kind} for ${owner}, restarted by an operator`,
  }
  const start = { ...startImageTask(facts, { taskQueue, timing }), kind: 'restart' as const }
  await endWorkflow(jobs, start.workflowId)
  const row = await sql.begin((sql) => insertOutbox(sql, start))
  jobs.kick(row)
  return `${start.workflowId} was started again`
}

const endWorkflow = async (jobs: Jobs, workflowId: string): Promise<void> => {
  try {
    await jobs.client.workflow.getHandle(workflowId).terminate('restarted by an operator')
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error
  }
}

const fail = async ({ sql, jobs }: CommandDeps, id: string): Promise<string> => {
  await getOpenTask(sql, id)
  const error = { code: 'internal_error', message: TASK_FAULTS.internal_error }
  const row = await sql.begin(async (sql) => {
    const moved = await moveImageTask(sql, { id, to: 'FAILED', error })
    return moved ? await insertOutbox(sql, cancelImageTask(id)) : undefined
  })
  if (!row) throw new OperatorError(`task ${id} has ended meanwhile: nothing was changed`)
  jobs.kick(row)
  return `task ${id} is FAILED`
}

const getOpenTask = async (sql: Sql, id: string): Promise<OpenTask> => {
  const task = await findTask(sql, id)
  if (!task)
    throw new OperatorError(`there is no task ${id}: \`npm run operate -- stuck\` lists ids`)
  if (task.ended)
    throw new OperatorError(`task ${id} is ${task.status}: only an open task can be changed`)
  return task
}
