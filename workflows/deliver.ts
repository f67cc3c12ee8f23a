import {
  condition,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'

import type {
  CoreActivities,
  DeliveryDone,
  DeliveryStep,
  DueDelivery,
} from '../activities/index.ts'
import { sendOptions } from './options.ts'

/**
 * Sends what is due, one event at a time, until nothing more will come. Undefined when the history has grown so long
 * that another run is to go on. `next` returns what the rows say comes next; `notified` whether something has been
 * recorded since then, which ends a wait.
 */
export const deliverAll = async (
  next: () => Promise<DeliveryStep>,
  notified = { hasChanged: false },
): Promise<DeliveryDone | undefined> => {
  const hasChanges = (): boolean => notified.hasChanged
  for (;;) {
    notified.hasChanged = false
    const step = await next()
    if (step.kind === 'done') {
      setCurrentDetails('**Done.** Nothing is left to send.')
      return step
    }
    if (workflowInfo().continueAsNewSuggested) return undefined
    show(step)
    const came =
      step.waitMs > 0 &&
      (await condition(hasChanges, step.waitMs, { summary: describeAttempt(step) }))
    if (!came) await send(step)
  }
}

const send = async (step: DueDelivery): Promise<void> => {
  const { sendEvent } = proxyActivities<CoreActivities>(sendOptions(describeAttempt(step)))
  try {
    const { deferMs } = await sendEvent(step.target)
    if (deferMs > 0)
      await sleep(deferMs, { summary: 'the webhook URL has enough requests at once' })
  } catch {
    // Its worker was lost or PostgreSQL was; the rows say which, and whether it was an attempt.
    await sleep(step.pauseMs, { summary: 'an attempt was lost' })
  }
}

const describeAttempt = ({ sequence, status, failures }: DueDelivery): string =>
  `try ${failures + 1} of event ${sequence}: ${status}`

const show = (step: DueDelivery): void => {
  const due =
    step.waitMs > 0 ? ` is due at ${new Date(Date.now() + step.waitMs).toISOString()}` : ''
  const last = step.lastFailure === null ? '' : `, after ${step.lastFailure}`
  setCurrentDetails(`**Delivering.** ${describeAttempt(step)}${due}${last}.`)
}
