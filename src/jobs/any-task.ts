import type { Sql, Transaction } from '../db/client.ts'
import { moveImageTask } from '../db/image-task/image-task.ts'
import { insertOutbox } from '../db/shared/outbox.ts'
import type { OutboxRow, OutboxStart } from '../db/shared/outbox.ts'
import { failVideoTask } from '../db/video-task/video-task.ts'
import type { RenderTiming, VideoTiming } from '../domain/task/render-timing.ts'
import { TASK_FAULTS, TaskFault } from '../domain/task/task-fault.ts'
import type { TaskFaultCode } from '../domain/task/task-fault.ts'
import { toVideoFault } from '../domain/video-task/video-fault.ts'
import { signalCancel } from './task.ts'
import { startDelivery } from './event.ts'
import { startImageTask } from './image-task.ts'
import { startVideoTask } from './video-task.ts'
import type { TaskFamily } from './task.ts'

/** A task of either family, for those who look after all of them: reconcile and the operator. */
export interface AnyTask {
  id: string
  family: TaskFamily
  kind: string
  owner: string
  offPeak: boolean
  hasReceiver: boolean
}

export interface AnyTaskOptions {
  sql: Sql
  taskQueue: string
  timing: RenderTiming
  videoTiming: VideoTiming
  /** Tasks of an owner that may hold a slot at once. */
  slots: number
}

/** The start of a task's workflow anew. */
export const startAnyTask = (
  { id, family, kind, owner, offPeak, hasReceiver }: AnyTask,
  summary: string,
  options: Omit<AnyTaskOptions, 'sql' | 'slots'>,
): OutboxStart => {
  const facts = { taskId: id, kind, owner, summary, hasReceiver }
  return family === 'image'
    ? startImageTask(facts, options)
    : startVideoTask({ ...facts, offPeak }, options)
}

/**
 * Makes the failing move of a task with all that belongs to it, and tells a workflow that still runs. Answers the rows
 * of the outbox that were written, or undefined when the task had ended.
 */
export const failAnyTask = async (
  task: AnyTask,
  code: TaskFaultCode,
  { sql, slots, taskQueue }: AnyTaskOptions,
): Promise<OutboxRow[] | undefined> =>
  await sql.begin(async (sql) => {
    const { id, family } = task
    const admitted =
      family === 'image'
        ? await moveImageTask(sql, {
            id,
            to: 'FAILED',
            error: { code, message: TASK_FAULTS[code] },
          }).then((moved) => (moved ? [] : undefined))
        : await failVideoTask(
            sql,
            { id, error: toVideoFault(new TaskFault(code), 'video') },
            { slots },
          )
    if (!admitted) return undefined
    return [...admitted, ...(await insertEndOutside(sql, task, { taskQueue }))]
  })

/** What must be told of an end that was made outside of the task's workflow: to that workflow, and to the receiver. */
export const insertEndOutside = async (
  sql: Transaction,
  { id, family, kind, owner, hasReceiver }: Omit<AnyTask, 'offPeak'>,
  options: { taskQueue: string },
): Promise<OutboxRow[]> => {
  const stop = await insertOutbox(sql, signalCancel(family, id))
  if (!hasReceiver) return [stop]
  return [stop, await insertOutbox(sql, startDelivery({ taskId: id, kind, owner }, options))]
}
