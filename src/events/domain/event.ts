import { Type, type Static } from 'typebox'

import { instant, uuid } from '../../platform/domain/schema-fields.ts'
import type { Labels } from '../../tasks/domain/task-options.ts'
import { ALL, timeBounds } from '../../platform/domain/time-bounds.ts'

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

/** One attempt, as its event's owner may see it: the address that was dialled is for operators only. */
export const Attempt = Type.Object({
  event_id: uuid('The event that was sent.'),
  number: Type.Integer({ minimum: 1, description: 'Number of the attempt within its event.' }),
  url: Type.String({ description: 'Where it was sent, without the query.' }),
  labels: Type.Optional(
    Type.Unsafe<Labels>({
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Labels of the task; absent where it has none.',
    }),
  ),
  header_names: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Names of the own headers of the endpoint that it was sent with.',
    }),
  ),
  started_at: instant('When it began.'),
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
  next_attempt_at: Type.Optional(instant('When the next one was due; absent when none was.')),
})
export type Attempt = Static<typeof Attempt>

export const Attempts = Type.Object({
  attempts: Type.Array(Attempt, { description: 'In the order of their number.' }),
})
export type Attempts = Static<typeof Attempts>

export const Redelivery = Type.Object({
  redelivery_id: uuid(
    'A repetition returns the same id for as long as the redelivery is under way.',
  ),
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
  batch_id: Type.Optional(uuid('Only events of tasks of this batch.')),
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
  created_at: instant('When it was made.'),
  expires_at: Type.Optional(instant('When it stops signing; absent for the newest.')),
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
