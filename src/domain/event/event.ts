import { Type, type Static } from 'typebox'

import { ALL, timeBounds } from '../shared/time-bounds.ts'
import { ImageTaskStatus } from '../image-task/image-task.ts'
import { VideoTaskState } from '../video-task/video-task.ts'

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

/** Why an attempt did not deliver. `unknown` also stands for an attempt whose end nobody saw, because its process died. */
export const AttemptErrorClass = Type.Enum([
  'address_refused',
  'dns',
  'connect',
  'tls',
  'timeout',
  'reset',
  'status_3xx',
  'status_4xx',
  'status_5xx',
  'gone',
  'unknown',
])
export type AttemptErrorClass = Static<typeof AttemptErrorClass>

export const id = (description: string) => Type.String({ format: 'uuid', description })
export const time = (description: string) => Type.String({ format: 'date-time', description })

/** One transition of a task, and the state of its webhook delivery. */
export const TaskEvent = Type.Object({
  id: id('The `webhook-id` of every attempt.'),
  sequence: Type.Integer({
    minimum: 1,
    description:
      'Number of the move within its task, or of an event of an endpoint within its subject; the `webhook-sequence` of every attempt.',
  }),
  status: Type.Union([ImageTaskStatus, VideoTaskState], { description: 'What the task moved to.' }),
  created_at: time('When the task moved.'),
  state: Type.Enum(DeliveryState.enum, { description: 'What has become of the delivery.' }),
  attempts: Type.Integer({ minimum: 0, description: 'Attempts made so far.' }),
  next_attempt_at: Type.Optional(time('When the next attempt is due; absent when none is.')),
  waits_for: Type.Optional(
    Type.String({
      description: 'Why it is not sent now, in a sentence; absent unless its host is paused.',
    }),
  ),
})
export type TaskEvent = Static<typeof TaskEvent>

export const TaskEvents = Type.Object({
  webhook_url: Type.Optional(
    Type.String({
      description:
        'Where every event but the first, the creation, is sent, without the query; absent when the task names no URL, or is deleted.',
    }),
  ),
  events: Type.Array(TaskEvent, { description: 'In the order of their sequence.' }),
})
export type TaskEvents = Static<typeof TaskEvents>

/** One attempt, as its event's owner may see it: the address that was dialled is for operators only. */
export const Attempt = Type.Object({
  event_id: id('The event that was sent.'),
  number: Type.Integer({ minimum: 1, description: 'Number of the attempt within its event.' }),
  url: Type.String({ description: 'Where it was sent, without the query.' }),
  started_at: time('When it began.'),
  duration_ms: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How long it took; absent while its end is unknown.' }),
  ),
  status: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 999,
      description: 'HTTP status of the response; absent when none came.',
    }),
  ),
  error_class: Type.Optional(
    Type.Enum(AttemptErrorClass.enum, {
      description: 'Why it did not deliver; absent when it did.',
    }),
  ),
  error_detail: Type.Optional(
    Type.String({
      description:
        'What is to be mended, where class and status do not say it: the error of the certificate, the target of a redirect, the step that took too long.',
    }),
  ),
  excerpt: Type.Optional(
    Type.String({
      description: 'Start of the response, 1 KiB at most, without control characters.',
    }),
  ),
  next_attempt_at: Type.Optional(time('When the next one was due; absent when none was.')),
})
export type Attempt = Static<typeof Attempt>

export const Attempts = Type.Object({
  attempts: Type.Array(Attempt, { description: 'In the order of their number.' }),
})
export type Attempts = Static<typeof Attempts>

export const Redelivery = Type.Object({
  redelivery_id: id('A repetition returns the same id for as long as the redelivery is under way.'),
})
export type Redelivery = Static<typeof Redelivery>

/** Body of a request to send the events of an endpoint again that it has missed. */
export const MissedEvents = Type.Object({
  ...timeBounds('Events of transitions made'),
  all: ALL,
})
export type MissedEvents = Static<typeof MissedEvents>

/** The same of the events of an owner's tasks. */
export const MissedTaskEvents = Type.Object({
  ...MissedEvents.properties,
  batch_id: Type.Optional(id('Only events of tasks of this batch.')),
})
export type MissedTaskEvents = Static<typeof MissedTaskEvents>

export const Redeliveries = Type.Object({
  redeliveries: Type.Integer({ minimum: 0, description: 'How many events are sent again.' }),
})
export type Redeliveries = Static<typeof Redeliveries>

export const WebhookSecret = Type.Object({
  secret: Type.String({
    pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
    description: '`whsec_` and the Base64 of the 32 bytes that sign.',
  }),
  created_at: time('When it was made.'),
  expires_at: Type.Optional(time('When it stops signing; absent for the newest.')),
})
export type WebhookSecret = Static<typeof WebhookSecret>

export const WebhookSecrets = Type.Object({
  secrets: Type.Array(WebhookSecret, {
    minItems: 1,
    maxItems: 2,
    description: 'All that sign, newest first.',
  }),
})
export type WebhookSecrets = Static<typeof WebhookSecrets>

/** For how long an old secret goes on signing beside its successor, unless said otherwise. */
export const OVERLAP_SECONDS = 86_400

/** Body of a request to replace a secret. */
export const SecretRotation = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: OVERLAP_SECONDS,
      description: 'For how long the old secret goes on signing beside the new one.',
    }),
  ),
})
export type SecretRotation = Static<typeof SecretRotation>
