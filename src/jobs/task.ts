import type { OutboxSignal } from '../db/shared/outbox.ts'
import type { EngineName } from '../domain/task/engine.ts'

export type TaskFamily = 'image' | 'video'

export const taskWorkflowId = (family: TaskFamily, taskId: string): string =>
  `${family}-task/${taskId}`

export interface TaskFacts {
  taskId: string
  kind: string
  owner: string
  /** Whom it counts for in the fair order of work; absent: the owner. */
  account?: string
  /** Who renders it; absent: the local one. */
  engine?: EngineName
  /** An operator reads this first: "relight 1024×768 for alice". */
  summary: string
}

/** The signal that stops a cancelled task. Its handlers are in workflows/image-task.ts and video-task.ts. */
export const signalCancel = (family: TaskFamily, taskId: string): OutboxSignal => ({
  kind: 'signal',
  workflowId: taskWorkflowId(family, taskId),
  signalName: 'cancelRequested',
})
