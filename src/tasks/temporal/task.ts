import type { OutboxSignal, OutboxStart } from '../../platform/db/outbox.ts'
import type { imageTask, videoTask } from '../../../workflows/tasks/task.ts'
import type { TaskToStart } from '../db/admission.ts'
import type { RenderTiming, VideoTiming } from '../domain/render-timing.ts'
import { queueOf } from '../domain/engine.ts'
import type { TaskFamily } from '../../platform/domain/task-scope.ts'
import { LOW_PRIORITY, NORMAL_PRIORITY, startOptions } from '../../platform/temporal/start.ts'

export const taskWorkflowId = (family: TaskFamily, taskId: string): string =>
  `${family}-task/${taskId}`

/** The signal that stops a task that has ended. Its handler is in workflows/tasks/task.ts. */
export const signalCancel = (family: TaskFamily, taskId: string): OutboxSignal => ({
  kind: 'signal',
  workflowId: taskWorkflowId(family, taskId),
  signalName: 'cancelRequested',
})

export interface StartRules {
  taskQueue: string
  timing: RenderTiming
  videoTiming: VideoTiming
}

/** The row of the outbox that starts the workflow of an admitted task. An operator reads its summary first. */
const startTask = (
  {
    id,
    family,
    admission,
    offPeak,
    engine,
    priority,
    batchId,
    ...facts
  }: Omit<TaskToStart, 'detail'>,
  summary: string,
  { taskQueue, timing, videoTiming }: StartRules,
): OutboxStart => {
  const isVideo = family === 'video'
  // An off-peak task waits at the upstream, in processing.
  const ofVideo =
    engine === 'vendor' && offPeak
      ? { ...videoTiming, deadlineSeconds: videoTiming.offPeakSeconds }
      : videoTiming
  return {
    // A run of an earlier admission has ended, and its task with it, or has put it back.
    kind: admission === 1 ? 'start' : 'restart',
    workflowType: `${family}Task` satisfies 'imageTask' | 'videoTask',
    workflowId: taskWorkflowId(family, id),
    taskQueue,
    args: [
      {
        taskId: id,
        admission,
        timing: isVideo ? ofVideo : timing,
        ...(engine !== 'local' && { engine: queueOf(engine) }),
      },
    ] satisfies Parameters<typeof imageTask | typeof videoTask>,
    options: {
      ...startOptions(
        { ...facts, summary, page: `/tasks/${id}` },
        {
          status: 'queued',
          priorityKey: offPeak ? LOW_PRIORITY : NORMAL_PRIORITY,
          priority: isVideo ? 0 : priority,
          engine,
          batch: batchId,
        },
      ),
      admission,
    },
  }
}

/** Makes the function that starts the workflow of whatever task is admitted. */
export const makeStartOf =
  (rules: StartRules) =>
  (
    task: Omit<TaskToStart, 'detail'> & { detail?: string },
    summary = summarise([task.kind, task.detail].join(' ').trim(), task.owner),
  ): OutboxStart =>
    startTask(task, summary, rules)

/** Summaries are limited to 400 bytes; an owner may be 255 characters. */
const OWNER_SHOWN = 60

/** Makes the summary that an operator reads first of a task: "relight 1024×768 for alice". */
export const summarise = (what: string, owner: string): string =>
  `${what} for ${[...owner].slice(0, OWNER_SHOWN).join('')}`
