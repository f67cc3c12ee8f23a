import { moveImageTask } from '../db/image-task/image-task.ts'
import type { Transaction } from '../db/client.ts'
import type { OutboxStart } from '../db/shared/outbox.ts'
import type { StillTask } from '../db/task/reconcile.ts'
import type { Tell, UnitDeps } from '../db/unit-of-work.ts'
import type { Slots } from '../db/video-task/video-queue.ts'
import { failVideoTask } from '../db/video-task/video-task.ts'
import type { RenderTiming, VideoTiming } from '../domain/task/render-timing.ts'
import { TASK_FAULTS, TaskFault } from '../domain/task/task-fault.ts'
import type { TaskFaultCode } from '../domain/task/task-fault.ts'
import { toVideoFault } from '../domain/video-task/video-fault.ts'
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
 * Fails a task from outside its workflow: makes the move with all that belongs to it, and tells the workflow. Answers false when the task had ended already.
 */
export const failAnyTask = async (
  sql: Transaction,
  { id, family }: Pick<StillTask, 'id' | 'family'>,
  { code, ...options }: Slots & { tell: Tell; code: TaskFaultCode },
): Promise<boolean> => {
  const failed =
    family === 'image'
      ? await moveImageTask(sql, { id, to: 'FAILED', error: { code, message: TASK_FAULTS[code] } })
      : await failVideoTask(sql, { id, error: toVideoFault(new TaskFault(code), 'video') }, options)
  if (failed) await options.tell(signalCancel(family, id))
  return failed
}
