import { Context } from '@temporalio/activity'

import { findDelivery, findLostAttempt, findRedelivery, loseAttempt } from '../src/db/delivery.ts'
import type { DueEvent, Target } from '../src/db/delivery.ts'
import type { DeliveryDependencies } from './dependencies.ts'
import { sendAttempt } from './send-attempt.ts'
import { failedVerdict } from './verdict.ts'

/** A try that is due, now or later. */
export interface DueDelivery extends Omit<DueEvent, 'id'> {
  kind: 'send'
  target: Target
  /** Milliseconds to wait after a try of which nothing is known. */
  pauseMs: number
}

/** What the delivery of events does next. idle: nothing until a further event is recorded. */
export type DeliveryStep = { kind: 'done' } | { kind: 'idle' } | DueDelivery

/** Milliseconds for which a try is put off because its host has as many requests at once as one may have; 0 when it was made. */
export interface SendResult {
  putOffMs: number
}

/** What the workflows that deliver events do: look at the rows, and send. */
export const makeEventActivities = (deps: DeliveryDependencies) => ({
  /** What is next for the events of a task. */
  async nextDelivery(taskId: string): Promise<DeliveryStep> {
    for (;;) {
      const { next, hasEnded } = await deps.sql.begin((sql) => findDelivery(sql, taskId))
      if (!next) return { kind: hasEnded ? 'done' : 'idle' }
      const target = { eventId: next.id }
      if (!(await settleLost(deps, target))) return toStep(deps, next, target)
    }
  },

  /** What is next for a redelivery. */
  async nextRedelivery(redeliveryId: string): Promise<DeliveryStep> {
    for (;;) {
      const next = await findRedelivery(deps.sql, redeliveryId)
      if (!next) return { kind: 'done' }
      const target = { eventId: next.id, redeliveryId }
      if (!(await settleLost(deps, target))) return toStep(deps, next, target)
    }
  },

  /** Makes one try, unless the receiver's host has enough at once. */
  async sendEvent(target: Target): Promise<SendResult> {
    const beat = setInterval(() => Context.current().heartbeat(), BEAT_MS)
    try {
      const wasMade = await sendAttempt(deps, target, Context.current().cancellationSignal)
      return { putOffMs: wasMade ? 0 : seconds(deps.delivery.putOffSeconds) }
    } finally {
      clearInterval(beat)
    }
  },
})

const BEAT_MS = 250

const seconds = (value: number): number => Math.round(value * 1000)

const toStep = (
  { delivery }: DeliveryDependencies,
  { id: _id, ...event }: DueEvent,
  target: Target,
): DueDelivery => ({ kind: 'send', ...event, target, pauseMs: seconds(delivery.putOffSeconds) })

/**
 * An attempt that was begun and never completed was lost with its worker, and may have arrived: it counts as a try that
 * failed. Whoever asks has none under way.
 */
const settleLost = async (deps: DeliveryDependencies, target: Target): Promise<boolean> => {
  const lost = await findLostAttempt(deps.sql, target)
  if (!lost) return false
  const verdict = failedVerdict(deps, lost.failures + 1, { errorClass: 'unknown' })
  await deps.sql.begin((sql) => loseAttempt(sql, { ...target, number: lost.number }, verdict))
  return true
}
