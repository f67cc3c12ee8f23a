import type { AttemptSlots } from '../../src/platform/outbound/attempt-slots.ts'
import type { Outbound } from '../../src/platform/outbound/client.ts'
import type { PostLimits } from '../../src/platform/outbound/post.ts'
import type { Signer } from '../../src/platform/adapters/signing.ts'
import type { OutboxStart } from '../../src/platform/db/outbox.ts'
import type { EndpointHeaders } from '../../src/events/adapters/endpoint-headers.ts'
import type { DeliverySchedule } from '../../src/events/domain/delivery-schedule.ts'
import type { Notifier } from '../../src/platform/domain/notifier.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'
import type { CoreDependencies } from '../tasks/dependencies.ts'

export interface DeliveryDependencies extends CommonDependencies {
  signer: Signer
  outbound: Outbound
  /** Slots that the attempts of this worker share. */
  attemptSlots: AttemptSlots
  webhookSecrets: { active(owner: string): Promise<string[]> }
  endpointHeaders: Pick<EndpointHeaders, 'decrypt'>
  delivery: DeliveryRules
  /** From 0 up to 1. */
  random(): number
  now(): Date
}

export interface FirstAttemptDependencies
  extends DeliveryDependencies, Pick<CoreDependencies, 'jobs'> {
  /** Notified when attempts may be due. */
  notifier: Notifier
  /** The row of the outbox that starts the further attempts of a task's events. */
  startDelivery(task: { taskId: string; kind: string; owner: string }): OutboxStart
  /** Makes those further attempts read the rows again. If that is lost, they do so later. */
  announceEvent(taskId: string): void
}

export interface DeliveryRules {
  schedule: DeliverySchedule
  /** Wait of an attempt when there are enough at once of its host, address or owner. */
  deferSeconds: number
  /** Limits of one attempt; absent: the outbound client's limits apply. */
  limits?: PostLimits
}
