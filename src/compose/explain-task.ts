import { listTaskDeliveries } from '../events/db/task-delivery.ts'
import { withinDeadline, type Sql } from '../platform/db/client.ts'
import { describeCauses } from '../platform/domain/causes.ts'
import type { Jobs } from '../platform/temporal/client.ts'
import { readRun } from '../platform/temporal/run.ts'
import { readTaskContext } from '../tasks/db/explanation.ts'
import { findTask, type OpenTask } from '../tasks/db/operator.ts'
import { findTaskDetail } from '../tasks/db/task-detail.ts'
import type { TaskExplanation } from '../tasks/domain/explanation.ts'
import { showAttempts } from '../tasks/show-attempts.ts'
import { taskWorkflowId } from '../tasks/temporal/task.ts'
import { listFindings, listNextSteps, type Facts } from './explanation.ts'

interface Deps {
  sql: Sql
  jobs: Jobs
}

/** Explains to an operator why a task is where it is, and what to do. Undefined where there is no such task. */
export const explainTask = async (
  { sql, jobs }: Deps,
  id: string,
): Promise<TaskExplanation | undefined> => {
  const task = await withinDeadline(sql, findTask(sql, id))
  if (!task) return undefined
  const [detail, context, deliveries] = await withinDeadline(
    sql,
    Promise.all([
      findTaskDetail(sql, { id, owner: task.owner, isAdmin: true }),
      readTaskContext(sql, id),
      listTaskDeliveries(sql, id),
    ]),
  )
  if (!detail) return undefined
  const isToRun = !task.ended && task.waitsOn === null
  const facts: Facts = {
    task,
    detail,
    context,
    attempts: showAttempts(detail),
    deliveries,
    ...(isToRun && { run: await askTemporal(jobs, task) }),
  }
  return {
    task_id: task.id,
    state: detail.item.state,
    findings: listFindings(facts),
    next_steps: listNextSteps(facts),
  }
}

/** The rows say much without Temporal, too. */
const askTemporal = async (
  jobs: Jobs,
  { family, id }: OpenTask,
): Promise<NonNullable<Facts['run']>> => {
  try {
    return { found: await readRun(jobs, taskWorkflowId(family, id)) }
  } catch (error) {
    return { error: describeCauses(error) }
  }
}
