import type { deliverEvents } from '../../workflows/deliver-events.ts'
import type { redeliverEvent } from '../../workflows/redeliver-event.ts'
import type { OutboxStart, StartOptions } from '../db/shared/outbox.ts'
import { NORMAL_PRIORITY, startOptions } from './start.ts'
import type { TaskFacts } from './task.ts'

export const deliveryWorkflowId = (taskId: string): string => `deliver-events/${taskId}`

/**
 * Starts the delivery of a task's events. Where it runs already, the start tells it that there is one more event. Moves
 * from outside the task's workflow need it.
 */
export const startDelivery = (
  { taskId, kind, owner }: Pick<TaskFacts, 'taskId' | 'kind' | 'owner'>,
  { taskQueue }: { taskQueue: string },
): OutboxStart => {
  const workflowId = deliveryWorkflowId(taskId)
  const facts = { kind, owner, summary: `events of ${kind} for ${owner}` }
  return {
    kind: 'start',
    workflowType: 'deliverEvents',
    workflowId,
    taskQueue,
    args: [{ taskId }] satisfies Parameters<typeof deliverEvents>,
    options: {
      ...startOptions(facts, { status: 'delivering', priorityKey: NORMAL_PRIORITY }),
      signal: 'eventRecorded',
    },
  }
}

/** The options that all redeliveries of an owner start with. */
export const redeliveryOptions = (owner: string): StartOptions =>
  startOptions(
    { kind: 'redelivery', owner, summary: `an event again, for ${owner}` },
    { status: 'delivering', priorityKey: NORMAL_PRIORITY },
  )

/** Starts one redelivery. */
export const startRedelivery = (
  { redeliveryId, owner }: { redeliveryId: string; owner: string },
  { taskQueue }: { taskQueue: string },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'redeliverEvent',
  workflowId: `redeliver-event/${redeliveryId}`,
  taskQueue,
  args: [{ redeliveryId }] satisfies Parameters<typeof redeliverEvent>,
  options: redeliveryOptions(owner),
})
