import type { imageTask } from '../../workflows/image-task.ts'
import type { OutboxStart } from '../db/shared/outbox.ts'
import type { RenderTiming } from '../domain/task/render-timing.ts'
import { NORMAL_PRIORITY, startOptions } from './start.ts'
import { taskWorkflowId } from './task.ts'
import type { TaskFacts } from './task.ts'

/** The row of the outbox that starts the workflow of an image task. */
export const startImageTask = (
  { engine, ...facts }: TaskFacts,
  { taskQueue, timing }: { taskQueue: string; timing: RenderTiming },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'imageTask',
  workflowId: taskWorkflowId('image', facts.taskId),
  taskQueue,
  args: [
    { taskId: facts.taskId, timing, ...(engine === 'vendor' && { engine }) },
  ] satisfies Parameters<typeof imageTask>,
  options: startOptions(facts, { status: 'CREATED', priorityKey: NORMAL_PRIORITY }),
})
