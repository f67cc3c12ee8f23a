import type { videoTask } from '../../workflows/video-task.ts'
import type { OutboxStart } from '../db/shared/outbox.ts'
import type { VideoTiming } from '../domain/task/render-timing.ts'
import { LOW_PRIORITY, NORMAL_PRIORITY, startOptions } from './start.ts'
import { taskWorkflowId } from './task.ts'
import type { TaskFacts } from './task.ts'

/** The row of the outbox that starts the workflow of a video task. */
export const startVideoTask = (
  { offPeak, engine, ...facts }: TaskFacts & { offPeak: boolean },
  { taskQueue, videoTiming }: { taskQueue: string; videoTiming: VideoTiming },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'videoTask',
  workflowId: taskWorkflowId('video', facts.taskId),
  taskQueue,
  args: [
    engine === 'vendor'
      ? { taskId: facts.taskId, timing: upstreamTiming(videoTiming, offPeak), engine }
      : { taskId: facts.taskId, timing: videoTiming },
  ] satisfies Parameters<typeof videoTask>,
  options: startOptions(facts, {
    status: 'created',
    priorityKey: offPeak ? LOW_PRIORITY : NORMAL_PRIORITY,
  }),
})

/** An off-peak task waits at the upstream, in processing. */
const upstreamTiming = (timing: VideoTiming, offPeak: boolean): VideoTiming =>
  offPeak ? { ...timing, deadlineSeconds: timing.offPeakSeconds } : timing
