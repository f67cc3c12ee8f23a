import { WorkflowNotFoundError } from '@temporalio/client'

import { failAnyTask, startAnyTask } from '../jobs/any-task.ts'
import type { AnyTaskOptions } from '../jobs/any-task.ts'
import type { Sql } from '../db/client.ts'
import { findOpenVersion, listStuckVersions } from '../db/registry/open-version.ts'
import { findTask, listStuckTasks } from '../db/task/operator.ts'
import type { OpenTask } from '../db/task/operator.ts'
import { listOldestOutbox } from '../db/shared/outbox.ts'
import { unitOfWork } from '../db/unit-of-work.ts'
import type { OutboxStart } from '../db/shared/outbox.ts'
import type { CheckTiming } from '../domain/registry/check-timing.ts'
import { startPublishVersion } from '../jobs/version.ts'
import type { Jobs } from '../jobs/client.ts'
import { OperatorError } from '../process/operator-error.ts'

export interface CommandDeps extends AnyTaskOptions {
  jobs: Jobs
  /** Durations that a version's workflow starts with. */
  checkTiming?: Partial<CheckTiming>
}

/** The commands of an operator. Each answers, in lines for a terminal, what it did. */
export const makeCommands = (deps: CommandDeps) => ({
  stuck: async (): Promise<string> => {
    const tasks = await listStuckTasks(deps.sql)
    const versions = await listStuckVersions(deps.sql)
    const rows = await listOldestOutbox(deps.sql)
    return [
      `${tasks.length} tasks have not moved for 10 minutes`,
      ...tasks.map(
        (task) => `  ${task.id}  ${task.status}  ${task.kind}  ${task.owner}  since ${task.since}`,
      ),
      `${versions.length} pending versions have not moved for 10 minutes`,
      ...versions.map(
        ({ versionId, nodeId, version, reason, since }) =>
          `  ${versionId}  ${nodeId}@${version}  ${reason}  since ${since}`,
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

/**
 * Ends the open workflow, then starts it again. Late steps of the old one are harmless: a task's lose against the new
 * fence, and a version's change nothing that the new one would not.
 */
const restart = async (deps: CommandDeps, id: string): Promise<string> => {
  const start = (await findVersionStart(deps, id)) ?? (await getTaskStart(deps, id))
  await endWorkflow(deps.jobs, start.workflowId)
  await unitOfWork(deps, (_sql, tell) => tell({ ...start, kind: 'restart' }))
  return `${start.workflowId} was started again`
}

const getTaskStart = async (deps: CommandDeps, id: string): Promise<OutboxStart> => {
  const task = await getOpenTask(deps.sql, id)
  return startAnyTask(task, `${task.kind} for ${task.owner}, restarted by an operator`, deps)
}

/** Answers undefined when no version has this id. */
const findVersionStart = async (
  deps: CommandDeps,
  id: string,
): Promise<OutboxStart | undefined> => {
  const version = await findOpenVersion(deps.sql, id)
  if (!version) return undefined
  if (version.status !== 'NodeVersionStatusPending')
    throw new OperatorError(
      `version ${id} is ${version.status}: only a pending version can be started again`,
    )
  const summary = `publish ${version.nodeId}@${version.version}, restarted by an operator`
  return startPublishVersion({ ...version, versionId: id, summary }, deps)
}

const endWorkflow = async (jobs: Jobs, workflowId: string): Promise<void> => {
  try {
    await jobs.client.workflow.getHandle(workflowId).terminate('restarted by an operator')
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error
  }
}

const fail = async (deps: CommandDeps, id: string): Promise<string> => {
  const task = await getOpenTask(deps.sql, id)
  if (!(await failAnyTask(task, 'internal_error', deps)))
    throw new OperatorError(`task ${id} has ended meanwhile: nothing was changed`)
  return `task ${id} has failed${task.family === 'video' ? ', its credits are returned' : ''}`
}

const getOpenTask = async (sql: Sql, id: string): Promise<OpenTask> => {
  const task = await findTask(sql, id)
  if (!task)
    throw new OperatorError(`there is no task ${id}: \`npm run operate -- stuck\` lists ids`)
  if (task.ended)
    throw new OperatorError(`task ${id} is ${task.status}: only an open task can be changed`)
  return task
}
