import { Type, type Static } from 'typebox'

import { ImageTaskStatus } from './image/image-task.ts'
import { instant, uuid } from '../../platform/domain/schema-fields.ts'
import { VideoTaskState } from './video/video-task.ts'

/**
 * State of an event's delivery. `pending`: it is still tried, or waits for its turn. `delivered`: the webhook URL
 * responded with 2xx. `superseded`: a later event has overtaken it. `exhausted`: its whole schedule is used up.
 * `stopped`: it is not sent, because the URL responded with 410, or the task is deleted. `unsent`: it is kept for the log only.
 */
export const DeliveryState = Type.Enum([
  'pending',
  'delivered',
  'superseded',
  'exhausted',
  'stopped',
  'unsent',
])
export type DeliveryState = Static<typeof DeliveryState>

/** One transition of a task, and the state of its webhook delivery. */
export const TaskEvent = Type.Object({
  id: uuid('The `webhook-id` of every attempt.'),
  sequence: Type.Integer({
    minimum: 1,
    description:
      'Number of the move within its task, or of an event of an endpoint within its subject; the `webhook-sequence` of every attempt.',
  }),
  status: Type.Union([ImageTaskStatus, VideoTaskState], { description: 'What the task moved to.' }),
  created_at: instant('When the task moved.'),
  state: Type.Enum(DeliveryState.enum, { description: 'What has become of the delivery.' }),
  attempts: Type.Integer({ minimum: 0, description: 'Attempts made so far.' }),
  next_attempt_at: Type.Optional(instant('When the next attempt is due; absent when none is.')),
  waits_for: Type.Optional(
    Type.String({
      description: 'Why it is not sent now, in a sentence; absent unless its host is paused.',
    }),
  ),
})
export type TaskEvent = Static<typeof TaskEvent>

const { id, state, attempts, next_attempt_at, waits_for } = TaskEvent.properties

/** An event of a task with the deliveries of its transition to webhook subscriptions of the owner. */
export const SentEvent = Type.Object({
  ...TaskEvent.properties,
  subscriptions: Type.Optional(
    Type.Array(
      Type.Object({
        endpoint_id: uuid('The endpoint, which lists it among its events, too.'),
        id,
        state,
        attempts,
        next_attempt_at,
        waits_for,
      }),
      { description: 'Deliveries to endpoints of the owner; absent without any.' },
    ),
  ),
})
export type SentEvent = Static<typeof SentEvent>

export const TaskEvents = Type.Object({
  webhook_url: Type.Optional(
    Type.String({
      description:
        'Where every event but the first, the creation, is sent, without the query; absent when the task names no URL, or is deleted.',
    }),
  ),
  events: Type.Array(SentEvent, { description: 'In the order of their sequence.' }),
})
export type TaskEvents = Static<typeof TaskEvents>
