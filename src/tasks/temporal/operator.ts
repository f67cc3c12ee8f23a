import type { Queryable, Transaction } from '../../platform/db/client.ts'
import { findTask } from '../db/operator.ts'
import type { OpenTask } from '../db/operator.ts'
import type { AdmissionRules } from '../db/admission.ts'
import type { Enqueue } from '../../platform/db/unit-of-work.ts'
import { failTask } from '../fail.ts'
import { endOpen } from '../../platform/temporal/start.ts'

type Options = AdmissionRules & { enqueue: Enqueue }

/** A task or version before and after an operator's command; nothing is done to one that has ended. */
export interface Operated<Thing> {
  was: Thing
  now: Thing
  changed: boolean
}

export const unchanged = <Thing>(thing: Thing) => ({ was: thing, now: thing, changed: false })

/** Ends the summary of a workflow that one has started again. */
export const SUMMARY_END = 'restarted by an operator'

/** Ends the workflow of an admitted task and starts it again. Late steps of the old one lose against the new fence. */
export const restartTask = async (
  sql: Queryable,
  id: string,
  { enqueue, startOf }: Options,
): Promise<Operated<OpenTask> | undefined> => {
  const task = await findTask(sql, id)
  if (!task || task.ended || task.waitsOn !== null) return task && unchanged(task)
  await enqueue(endOpen(startOf(task, `${task.kind} for ${task.owner}, ${SUMMARY_END}`)))
  return { ...unchanged(task), changed: true }
}

/** Ends an open task in failure with internal_error, and returns its credits. */
export const failOpenTask = async (
  sql: Transaction,
  id: string,
  options: Options,
): Promise<Operated<OpenTask> | undefined> => {
  const task = await findTask(sql, id)
  if (!task || task.ended) return task && unchanged(task)
  const changed = await failTask(sql, task, { ...options, code: 'internal_error' })
  // This has ended it, or something that came first.
  return { was: task, now: (await findTask(sql, id)) ?? task, changed }
}
