import { ApplicationFailure, Context } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

import type { DeliveryStep, DueDelivery } from '../../activities/events/delivery.ts'
import type { CoreActivities } from '../../activities/index.ts'
import type { SendResult } from '../../activities/events/delivery.ts'
import { getRun, recordCall, type Runs } from './runs.ts'
import { inOrder, inTurn, untilDetails, type Circumstances } from './scenarios.ts'

/** Stand-ins for the activities in one run of a workflow that delivers events: those of a task, or a redelivery. */
export interface DeliveryScenario extends Circumstances {
  /** Returns the next step, by the id of the run. */
  next: (id: string) => Promise<DeliveryStep>
  /** Absent: each attempt is made. */
  send?: (id: string) => Promise<SendResult>
}

export const DONE: DeliveryStep = { kind: 'done' }

export const due = (given: Partial<DueDelivery> = {}): DueDelivery => ({
  kind: 'send',
  target: { eventId: '' },
  sequence: 2,
  status: 'IN_PROGRESS',
  failures: 0,
  waitMs: 0,
  lastFailure: null,
  host: 'hooks.example.com',
  pauseMs: 20,
  ...given,
})

const FAILED = { failures: 1, lastFailure: 'status_5xx 500' }
const AGAIN = due({ ...FAILED, waitMs: 50 })
const MADE: SendResult = { deferMs: 0 }
const HOUR_MS = 3_600_000

/** Steps before and after something was recorded. */
const onceRecorded = (before: DeliveryStep, ...then: readonly DeliveryStep[]) => {
  const recorded = new Set<string>()
  const after = inTurn(...then)
  return {
    next: (id: string): Promise<DeliveryStep> =>
      recorded.has(id) ? after(id) : Promise.resolve(before),
    /** Records it, and signals the workflow. */
    signal: async (handle: WorkflowHandle): Promise<void> => {
      recorded.add(handle.workflowId.replace(/^.*\//, ''))
      await handle.signal('eventRecorded')
    },
  }
}

const untilWaiting = (handle: WorkflowHandle) => untilDetails(handle, /is due at/)

/** Does something else at its first call. */
const atFirst = (act: () => Promise<unknown>): ((id: string) => Promise<SendResult>) => {
  const seen = new Set<string>()
  return async (id) => {
    const isFirst = !seen.has(id)
    seen.add(id)
    if (isFirst) await act()
    return MADE
  }
}

/** Says nothing until its worker ends. */
const keepSilent = (): Promise<never> => Context.current().cancelled

const loseAttempt = (): Promise<never> =>
  Promise.reject(ApplicationFailure.nonRetryable('lost', 'attempt_lost'))

const LATER = due({ failures: 3, lastFailure: 'timeout', waitMs: HOUR_MS })
const dropped = onceRecorded(LATER, due({ sequence: 3, status: 'COMPLETED' }), DONE)
const stopped = onceRecorded(LATER, DONE)

export const DELIVERY_SCENARIOS = {
  delivered: { next: inTurn<DeliveryStep>(due(), DONE) },
  retried: { next: inTurn<DeliveryStep>(due(), AGAIN, DONE) },
  'superseded-while-waiting': { next: dropped.next, act: inOrder(untilWaiting, dropped.signal) },
  'stopped-while-waiting': { next: stopped.next, act: inOrder(untilWaiting, stopped.signal) },
  deferred: {
    next: inTurn<DeliveryStep>(due(), due(), due(), DONE),
    send: inTurn({ deferMs: 20 }, { deferMs: 20 }, MADE),
  },
  'attempt-lost': { next: inTurn<DeliveryStep>(due(), AGAIN, DONE), send: atFirst(loseAttempt) },
  'worker-lost': { next: inTurn<DeliveryStep>(due(), AGAIN, DONE), send: atFirst(keepSilent) },
} satisfies Record<string, DeliveryScenario>

export const REDELIVERY_SCENARIOS = {
  delivered: { next: inTurn<DeliveryStep>(due(), DONE) },
  retried: { next: inTurn<DeliveryStep>(due(), AGAIN, DONE) },
  // The task's own delivery is not there any more.
  'wakes-nobody': { next: inTurn<DeliveryStep>(due(), { kind: 'done', taskInWait: 'gone' }) },
} satisfies Record<string, DeliveryScenario>

/** The activities that read the rows and send, as the scenario of each run has them. */
export const makeDeliveryActivities = (runs: Runs<DeliveryScenario>) => {
  const check = async (id: string): Promise<DeliveryStep> => {
    const { scenario, calls } = getRun(runs, id)
    const step = await scenario.next(id)
    calls.push([step.kind])
    return step.kind === 'send' ? { ...step, target: { eventId: id } } : step
  }
  return {
    nextDelivery: check,
    nextRedelivery: check,
    async sendEvent({ eventId: id }) {
      const scenario = recordCall(runs, id, 'try')
      return (await scenario.send?.(id)) ?? MADE
    },
  } satisfies Partial<CoreActivities>
}
