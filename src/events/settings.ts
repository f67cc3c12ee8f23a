import { Type, type Static } from 'typebox'

import { DELIVERY_SCHEDULE, type DeliverySchedule } from './domain/delivery-schedule.ts'

import { optionalText, constant } from '../platform/settings/schema.ts'

export const EventSettings = Type.Object({
  WEBHOOK_DEFAULT_SECRET: optionalText(
    'Signs the notifications of anonymous callers: `whsec_` and the Base64 of 24 to 64 bytes.',
  ),
})

/** Numbers of webhooks and notices that an operator has no reason to change. */
export const EventConstants = Type.Object({
  /** Age of the oldest task that waits to begin from which on endpoints of the platform are notified: longer than a deploy. */
  NOTICE_QUEUE_SECONDS: constant(900, 1),
  /** Used part of the file system of STORAGE_PATH from which on they are: time is left to add space. */
  NOTICE_STORE_PERCENT: constant(90, 1, 100),
  /** Pause between two checks of the conditions that platform admins are notified of. */
  NOTICE_INTERVAL_MS: constant(30_000, 10),
  /** Endpoints of one owner of tasks, or one publisher: every event is sent to all that want it. */
  MAX_ENDPOINTS: constant(10, 1, 1000),
  /**
   * Redeliveries of one event that anonymous callers may ask for: anyone who knows the id may, and the subscriber pays.
   */
  ANONYMOUS_REDELIVERIES_PER_EVENT: constant(5),
  /** The same of one host within an hour. */
  ANONYMOUS_REDELIVERIES_PER_HOST: constant(100, 1),
  /** Factor of the times in the schedule of notifications. */
  WEBHOOK_TIME_FACTOR: Type.Number({ exclusiveMinimum: 0, maximum: 1, default: 1 }),
})

export type EventConfig = Static<typeof EventSettings> & Static<typeof EventConstants>

/** Reads when notifications are sent, and how long one waits whose host has enough requests at once. */
export const readDelivery = ({
  WEBHOOK_TIME_FACTOR: factor,
}: EventConfig): { schedule: DeliverySchedule; deferSeconds: number } => ({
  schedule: {
    ...DELIVERY_SCHEDULE,
    steps: DELIVERY_SCHEDULE.steps.map((step) => step * factor),
    busySeconds: DELIVERY_SCHEDULE.busySeconds * factor,
    retryAfterSeconds: DELIVERY_SCHEDULE.retryAfterSeconds * factor,
    disableSeconds: DELIVERY_SCHEDULE.disableSeconds * factor,
  },
  deferSeconds: 5 * factor,
})
