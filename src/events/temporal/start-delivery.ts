import type { deliverEvents, redeliverEvent } from '../../../workflows/events/deliver-events.ts'
import type { OutboxSignal, OutboxStart, StartOptions } from '../../platform/db/outbox.ts'
import type { Jobs } from '../../platform/temporal/client.ts'
import { NORMAL_PRIORITY, startOptions } from '../../platform/temporal/start.ts'

export const deliveryWorkflowId = (taskId: string): string => `deliver-events/${taskId}`

/**
 * Starts the further attempts of a task's events, once a first attempt has failed. Where they run already, the signal
 * makes them read the rows again; its handler is in workflows/events/deliver-events.ts.
 */
export const startDelivery = (
  { taskId, kind, owner }: { taskId: string; kind: string; owner: string },
  { taskQueue }: { taskQueue: string },
): OutboxStart => {
  const workflowId = deliveryWorkflowId(taskId)
  const summary = `events of ${kind} for ${owner}`
  const facts = { kind, owner, summary, page: `/tasks/${taskId}` }
  return {
    // An earlier event of the task may have had its own.
    kind: 'restart',
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

/** Makes the further attempts of a task's events read the rows again. */
export const announceEvent = (jobs: Pick<Jobs, 'trySignal'>, taskId: string): Promise<void> =>
  jobs.trySignal(deliveryWorkflowId(taskId), 'eventRecorded')

/** Signals that end the deliveries of a task's events, whose rows have nothing more to send. */
export const signalStopped = (taskId: string, redeliveryIds: readonly string[]): OutboxSignal[] =>
  [deliveryWorkflowId(taskId), ...redeliveryIds.map(redeliveryWorkflowId)].map((workflowId) => ({
    kind: 'signal',
    workflowId,
    signalName: 'eventRecorded',
  }))

/** The options that all redeliveries of an owner start with. */
export const redeliveryOptions = (owner: string): StartOptions =>
  startOptions(
    { kind: 'redelivery', owner, summary: `an event again, for ${owner}` },
    { status: 'delivering', priorityKey: NORMAL_PRIORITY },
  )

const redeliveryWorkflowId = (redeliveryId: string): string => `redeliver-event/${redeliveryId}`

export const startRedelivery = (
  { redeliveryId, owner }: { redeliveryId: string; owner: string },
  { taskQueue }: { taskQueue: string },
): OutboxStart => ({
  kind: 'start',
  workflowType: 'redeliverEvent',
  workflowId: redeliveryWorkflowId(redeliveryId),
  taskQueue,
  args: [{ redeliveryId }] satisfies Parameters<typeof redeliverEvent>,
  options: redeliveryOptions(owner),
})
