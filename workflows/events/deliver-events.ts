import {
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'

import type {
  DeliveryDone,
  DeliveryStep,
  DueDelivery,
  EventActivities,
} from '../../activities/events/delivery.ts'
import { sendOptions, transitionOptions } from '../platform/options.ts'
import { makeChangeWait } from '../platform/wait.ts'

/** Another attempt is due, or none any more. Lost, it costs delay. */
const eventRecorded = defineSignal('eventRecorded')

/** Delivers the events of a task to its webhook URL, in their order, until the last one has ended. */
export const deliverEvents = async ({ taskId }: { taskId: string }): Promise<string> => {
  const { nextDelivery } = proxyLocalActivities<EventActivities>(transitionOptions)
  const done = await deliverAll(() => nextDelivery(taskId))
  return done ? done.outcome : await continueAsNew<typeof deliverEvents>({ taskId })
}

/**
 * Makes the delivery of a task's events read the rows again. A delivery that has ended had nothing more to send, or
 * somebody ended it by hand; reconcile restarts that one.
 */
const signalDelivery = (taskId: string): Promise<void> =>
  getExternalWorkflowHandle(`deliver-events/${taskId}`)
    .signal(eventRecorded)
    .catch(() => {})

/** Sends one event again on a schedule of its own, beside the order of its task. */
export const redeliverEvent = async ({
  redeliveryId,
}: {
  redeliveryId: string
}): Promise<string> => {
  const { nextRedelivery } = proxyLocalActivities<EventActivities>(transitionOptions)
  const done = await deliverAll(() => nextRedelivery(redeliveryId))
  if (!done) return await continueAsNew<typeof redeliverEvent>({ redeliveryId })
  // What arrived this way keeps nothing waiting any more.
  if (done.taskInWait !== undefined) await signalDelivery(done.taskInWait)
  return done.outcome
}

/**
 * Sends what is due, one event at a time, until nothing more will come. Undefined when the history has grown so long
 * that another run is to go on. `next` returns what the rows say comes next; the signal ends a wait.
 */
const deliverAll = async (
  next: () => Promise<DeliveryStep>,
): Promise<(DeliveryDone & { outcome: string }) | undefined> => {
  const changes = makeChangeWait(eventRecorded)
  let outcome = 'nothing is left to send'
  for (;;) {
    changes.watch()
    const step = await next()
    if (step.kind === 'done') {
      setCurrentDetails(`**Done**: ${outcome}`)
      return { ...step, outcome }
    }
    if (workflowInfo().continueAsNewSuggested) return undefined
    show(step)
    const came =
      step.waitMs > 0 && (await changes.wait(step.waitMs, { summary: describeAttempt(step) }))
    if (!came) outcome = (await send(step)) ?? outcome
  }
}

const send = async (step: DueDelivery): Promise<string | undefined> => {
  const { sendEvent } = proxyActivities<EventActivities>(sendOptions(describeAttempt(step)))
  try {
    const { deferMs, outcome } = await sendEvent(step.target)
    if (deferMs > 0)
      await sleep(deferMs, { summary: 'the webhook URL has enough requests at once' })
    return outcome
  } catch {
    // Its worker was lost or PostgreSQL was; the rows say which, and whether it was an attempt.
    await sleep(step.pauseMs, { summary: 'an attempt was lost' })
    return undefined
  }
}

const describeAttempt = ({ sequence, status, failures, host, lastFailure }: DueDelivery): string =>
  `attempt ${failures + 1} of event ${sequence} (${status})` +
  (host === null ? '' : ` to ${host}`) +
  (lastFailure === null ? '' : `, after ${lastFailure}`)

const show = (step: DueDelivery): void => {
  const due =
    step.waitMs > 0 ? ` It is due at ${new Date(Date.now() + step.waitMs).toISOString()}.` : ''
  setCurrentDetails(`**Delivering** ${describeAttempt(step)}.${due}`)
}
