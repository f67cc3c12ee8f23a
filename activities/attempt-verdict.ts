import type { AttemptVerdict } from '../src/db/event/attempt.ts'
import { nextWait } from '../src/domain/event/delivery-schedule.ts'
import type { FailedAttempt } from '../src/domain/event/delivery-schedule.ts'
import type { DeliveryDependencies } from './dependencies.ts'

/** Decides on an event whose attempt failed: another one later, or the end of the schedule. */
export const failedVerdict = (
  { delivery, random }: DeliveryDependencies,
  failures: number,
  failed: FailedAttempt,
): AttemptVerdict => {
  const { schedule } = delivery
  const wait = nextWait({ failures, failed, random: random(), schedule })
  if (wait) return { state: 'pending', waitSeconds: wait.seconds }
  return { state: 'exhausted', disableSeconds: schedule.disableSeconds }
}
