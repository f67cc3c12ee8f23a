import type { OutboxStart } from '../db/shared/outbox.ts'
import type { StillTask } from '../db/task/reconcile.ts'
import type { UnitDeps } from '../db/unit-of-work.ts'
import type { Slots } from '../db/video-task/video-queue.ts'
import type { RenderTiming, VideoTiming } from '../domain/task/render-timing.ts'
import { startImageTask, startVideoTask } from './task.ts'

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
