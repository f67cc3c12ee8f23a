import type { MockActivityEnvironment } from '@temporalio/testing'

import type { DeliveryDependencies } from '../../activities/dependencies.ts'
import { makeEventActivities } from '../../activities/event.ts'
import type { DeliveryStep, SendResult } from '../../activities/event.ts'
import { makeSendAttempt } from '../../activities/send-attempt.ts'
import type { Target } from '../../src/db/event/attempt.ts'
import { makeEnvironment } from './place.ts'

/** Makes one attempt as a worker would. */
export const send = (
  deps: DeliveryDependencies,
  target: Target,
  environment: MockActivityEnvironment = makeEnvironment(),
): Promise<SendResult> =>
  environment.run<[Target], SendResult, (target: Target) => Promise<SendResult>>(
    makeEventActivities(deps, makeSendAttempt(deps)).sendEvent,
    target,
  )

export const readStep = (deps: DeliveryDependencies, taskId: string): Promise<DeliveryStep> =>
  makeEventActivities(deps, makeSendAttempt(deps)).nextDelivery(taskId)

export const readRedeliveryStep = (deps: DeliveryDependencies, id: string): Promise<DeliveryStep> =>
  makeEventActivities(deps, makeSendAttempt(deps)).nextRedelivery(id)
