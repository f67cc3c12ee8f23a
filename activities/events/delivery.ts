import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity'

import {
  beginAttempt,
  completeAttempt,
  findLostAttempt,
  findLostRedelivery,
  findWebhookUrl,
  loseAttempt,
  stopEvent,
} from '../../src/events/db/attempt.ts'
import type { LostAttempt, Target } from '../../src/events/db/attempt.ts'
import { findDelivery, findRedelivery, findTaskInWait } from '../../src/events/db/delivery.ts'
import type { DueEvent } from '../../src/events/db/delivery.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { DeliveryDependencies } from './dependencies.ts'
import { withHeartbeat } from '../platform/heartbeat.ts'
import type { AttemptOutcome, SendAttempt } from './send-attempt.ts'
import { hostOf, logLost, lostVerdict } from './send-attempt.ts'

/** Attempt that is due, now or later. */
export interface DueDelivery extends Omit<DueEvent, 'id'> {
  kind: 'send'
  target: Target
  /** Milliseconds to wait when it is not known what became of an attempt. */
  pauseMs: number
}

/** Nothing is left to do here. */
export interface DeliveryDone {
  kind: 'done'
  /** After a redelivery: the task whose own delivery waits, perhaps for this redelivery. */
  taskInWait?: string
}

/** Next step of the delivery of events. */
export type DeliveryStep = DeliveryDone | DueDelivery

/** `deferMs` is 0 when the attempt was made; otherwise all slots are taken, and it waits for so many milliseconds. */
export interface SendResult {
  deferMs: number
  /** Sentence for operators about an attempt that was made. */
  outcome?: string
}

export type EventActivities = ReturnType<typeof makeEventActivities>

/** Makes the activities of deliveries whose first attempt failed: find the next one, and send it. */
export const makeEventActivities = (deps: DeliveryDependencies, sendAttempt: SendAttempt) => ({
  /** Finds the next step for the events of a task, except first attempts, which `sendFirstAttempts` makes. */
  async nextDelivery(taskId: string): Promise<DeliveryStep> {
    await recordLost(deps, () => findLostAttempt(deps.sql, taskId))
    const next = await findDelivery(deps.sql, taskId)
    if (!next || next.failures === 0) return { kind: 'done' }
    return toStep(deps, next, { eventId: next.id })
  },

  async nextRedelivery(redeliveryId: string): Promise<DeliveryStep> {
    await recordLost(deps, () => findLostRedelivery(deps.sql, redeliveryId))
    const next = await findRedelivery(deps.sql, redeliveryId)
    if (next) return toStep(deps, next, { eventId: next.id, redeliveryId })
    const taskInWait = await findTaskInWait(deps.sql, redeliveryId)
    return { kind: 'done', ...(taskInWait !== undefined && { taskInWait }) }
  },

  /** Makes one attempt, unless there are enough at once. */
  async sendEvent(target: Target): Promise<SendResult> {
    const { eventId } = target
    const { cancellationSignal: signal } = Context.current()
    let sentence: string | undefined
    const defer = await withHeartbeat({ beatMs: BEAT_MS }, async () => {
      const webhook = await findWebhookUrl(deps.sql, eventId)
      if (!webhook) {
        await unitOfWork(deps, (sql) => stopEvent(sql, eventId))
        return undefined
      }
      return await sendAttempt({
        eventId,
        webhook,
        waitMs: 0,
        signal,
        writeDown: () => unitOfWork(deps, (sql) => beginAttempt(sql, target, webhook.url)),
        complete: async ({ number }, outcome) => {
          await unitOfWork(deps, (sql) => completeAttempt(sql, { ...target, number }, outcome))
          sentence = describeOutcome(outcome, hostOf(webhook.url))
        },
      })
    }).catch((error: unknown) => {
      throw toFailure(deps, target, error)
    })
    const deferMs = toMs(defer?.seconds ?? 0)
    return sentence === undefined ? { deferMs } : { deferMs, outcome: sentence }
  },
})

const BEAT_MS = 1000

/** No more of the URL than its host: a path or a query may be a secret. */
const describeOutcome = (
  { result: { errorClass, status }, verdict: { state } }: AttemptOutcome,
  host: string,
): string => {
  if (errorClass === undefined) return `delivered to ${host}`
  const failure = [errorClass, status].filter(Boolean).join(' ')
  return `failed at ${host}: ${failure}${state === 'pending' ? '' : '; there is no further attempt'}`
}

const toMs = (seconds: number): number => Math.round(seconds * 1000)

const toStep = (
  { delivery }: DeliveryDependencies,
  { id: _id, ...event }: DueEvent,
  target: Target,
): DueDelivery => ({
  kind: 'send',
  ...event,
  target,
  // A second at most: what was lost is sent again at once.
  pauseMs: toMs(Math.min(1, delivery.deferSeconds)),
})

/** An attempt that began and was never completed was lost with its worker. It may have arrived. */
const recordLost = async (
  deps: DeliveryDependencies,
  find: () => Promise<LostAttempt | undefined>,
): Promise<void> => {
  for (let lost = await find(); lost; lost = await find()) {
    const { failures, lostBefore, ...key } = lost
    const verdict = lostVerdict(deps, { failures, lostBefore })
    logLost(deps, key)
    await unitOfWork(deps, (sql) => loseAttempt(sql, key, verdict))
  }
}

/** The words of the driver or a parser may name hosts and values, so only the log gets them. */
const toFailure = ({ log }: DeliveryDependencies, { eventId }: Target, error: unknown): Error => {
  if (error instanceof CancelledFailure) return error
  log.warn({ event_id: eventId, err: error }, 'an attempt was lost')
  return ApplicationFailure.nonRetryable(
    'the attempt was lost; the log of the worker says why',
    'attempt_lost',
  )
}
