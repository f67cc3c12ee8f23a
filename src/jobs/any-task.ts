import { transitionImageTask } from '../db/image-task/image-task.ts'
import type { Transaction } from '../db/client.ts'
import type { OutboxStart } from '../db/shared/outbox.ts'
import type { StillTask } from '../db/task/reconcile.ts'
import type { Enqueue, UnitDeps } from '../db/unit-of-work.ts'
import type { Slots } from '../db/video-task/video-queue.ts'
import { failVideoTask } from '../db/video-task/video-task.ts'
import type { RenderTiming, VideoTiming } from '../domain/task/render-timing.ts'
import { TASK_ERRORS, TaskError } from '../domain/task/task-error.ts'
import type { TaskErrorCode } from '../domain/task/task-error.ts'
import { toVideoError } from '../domain/video-task/video-error.ts'
import { signalCancel, startImageTask, startVideoTask } from './task.ts'

export interface AnyTaskOptions extends UnitDeps, Slots {
  taskQueue: string
  timing: RenderTiming
  videoTiming: VideoTiming
}

/** Starts the workflow of a task again. */
export const startAnyTask = (
  { id, family, offPeak, ...task }: StillTask,
  summary: string,
  options: Omit<AnyTaskOptions, keyof UnitDeps | keyof Slots>,
): OutboxStart => {
  const facts = { ...task, taskId: id, summary }
  return family === 'image'
    ? startImageTask(facts, options)
    : startVideoTask({ ...facts, offPeak }, options)
}

/**
 * Fails a task from outside its workflow: makes the transition with all that belongs to it, and cancels the workflow.
 * Returns false when the task had ended already.
 */
export const failAnyTask = async (
  sql: Transaction,
  { id, family }: Pick<StillTask, 'id' | 'family'>,
  { code, ...options }: Slots & { enqueue: Enqueue; code: TaskErrorCode },
): Promise<boolean> => {
  const failed =
    family === 'image'
      ? await transitionImageTask(sql, {
          id,
          to: 'FAILED',
          error: { code, message: TASK_ERRORS[code] },
        })
      : await failVideoTask(sql, { id, error: toVideoError(new TaskError(code), 'video') }, options)
  if (failed) await options.enqueue(signalCancel(family, id))
  return failed
}
