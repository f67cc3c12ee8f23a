import type { OutboxSignal, OutboxStart } from '../db/shared/outbox.ts'
import type { imageTask } from '../../workflows/image-task.ts'
import type { TaskOptions } from '../domain/task/task-options.ts'
import type { TaskFamily } from '../domain/task/task-scope.ts'
import type { RenderTiming, VideoTiming } from '../domain/task/render-timing.ts'
import type { TaskFacts } from './start.ts'
import { LOW_PRIORITY, NORMAL_PRIORITY, startOptions } from './start.ts'
import type { videoTask } from '../../workflows/video-task.ts'

export const taskWorkflowId = (family: TaskFamily, taskId: string): string =>
  `${family}-task/${taskId}`

/** The signal that stops a cancelled task. Its handlers are in workflows/image-task.ts and video-task.ts. */
export const signalCancel = (family: TaskFamily, taskId: string): OutboxSignal => ({
  kind: 'signal',
  workflowId: taskWorkflowId(family, taskId),
  signalName: 'cancelRequested',
})

/** The facts that the start of a task has of its options. */
export const startFacts = ({ priority, startWithin, endWithin }: TaskOptions) => ({
  priority,
  hasDeadlines: (startWithin ?? endWithin) !== null,
})

/** The row of the outbox that starts the workflow of an image task. */
export const startImageTask = (
  { engine, hasDeadlines, priority, ...facts }: TaskFacts,
  { taskQueue, timing }: { taskQueue: string; timing: RenderTiming },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'imageTask',
  workflowId: taskWorkflowId('image', facts.taskId),
  taskQueue,
  args: [
    {
      taskId: facts.taskId,
      timing,
      ...(engine !== undefined && engine !== 'local' && { engine }),
      ...(hasDeadlines && { hasDeadlines: true }),
    },
  ] satisfies Parameters<typeof imageTask>,
  options: startOptions(facts, { status: 'CREATED', priorityKey: NORMAL_PRIORITY, priority }),
})

/** The row of the outbox that starts the workflow of a video task. */
export const startVideoTask = (
  { offPeak, engine, hasDeadlines, ...facts }: TaskFacts & { offPeak: boolean },
  { taskQueue, videoTiming }: { taskQueue: string; videoTiming: VideoTiming },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'videoTask',
  workflowId: taskWorkflowId('video', facts.taskId),
  taskQueue,
  args: [
    {
      taskId: facts.taskId,
      timing: engine === 'vendor' ? upstreamTiming(videoTiming, offPeak) : videoTiming,
      ...(engine !== undefined && engine !== 'local' && { engine }),
      ...(hasDeadlines && { hasDeadlines: true }),
    },
  ] satisfies Parameters<typeof videoTask>,
  options: startOptions(facts, {
    status: 'created',
    priorityKey: offPeak ? LOW_PRIORITY : NORMAL_PRIORITY,
  }),
})

/** An off-peak task waits at the upstream, in processing. */
const upstreamTiming = (timing: VideoTiming, offPeak: boolean): VideoTiming =>
  offPeak ? { ...timing, deadlineSeconds: timing.offPeakSeconds } : timing
