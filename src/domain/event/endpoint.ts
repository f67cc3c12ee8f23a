import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'

import { ENDPOINT_ACCOUNT } from '../shared/account.ts'
import { ADDRESS_PATTERN } from '../shared/address.ts'
import { TaskEvent } from './event.ts'

/** What a publisher can be told. */
export const PUBLISHER_EVENTS = [
  'version.received',
  'version.active',
  'version.flagged',
  'version.banned',
  'version.deleted',
  'review.requested',
  'review.decided',
  'token.created',
  'token.revoked',
  'member.added',
  'member.changed',
  'member.removed',
] as const

/** What an owner of tasks can be told: what the receiver of a task is. */
export const OWNER_EVENTS = [
  'image_task.in_progress',
  'image_task.completed',
  'image_task.failed',
  'video_task.queueing',
  'video_task.processing',
  'video_task.success',
  'video_task.failed',
] as const

/** The type of what is sent on request alone. */
export const TEST_EVENT = 'endpoint.test'

/** The status that a task moved to, by the type of the event. Image tasks have theirs in capitals. */
export const taskStatusOf = (type: string): string => {
  const [task, status = ''] = type.split('.')
  return task === 'image_task' ? status.toUpperCase() : status
}

/** Whose secrets sign what an endpoint is told. No user has such an id. */
export const endpointSecretOwner = (id: string): string => `${ENDPOINT_ACCOUNT}${id}`

/** Why an endpoint was switched off: by whoever manages it, by its receiver's 410, or because nothing arrived for a week. */
export const DisabledReason = Type.Enum(['requested', 'gone', 'failing'], {
  description:
    'Why it is off: `requested` by whoever manages it, `gone` (its receiver answered 410), `failing` (nothing arrived for a week).',
})
export type DisabledReason = Static<typeof DisabledReason>

export const EndpointStatus = Type.Enum(['enabled', 'disabled'], {
  description: 'Whether it is told anything.',
})

const time = (description: string) => Type.String({ format: 'date-time', description })

const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  'x-pattern': ADDRESS_PATTERN,
  description: 'Where events are sent: https, on a public host.',
})

/** Which events: each once, one at least. */
const eventsOf = (kind: string, types: readonly string[]): TSchema =>
  Type.Array(Type.Enum([...types], { title: `${kind}EventType` }), {
    minItems: 1,
    maxItems: types.length,
    uniqueItems: true,
    description: 'Types of the events that it is told.',
    'x-expectation': `a list of different ones of ${types.join(', ')}`,
  })

/**
 * The schemas of endpoints that can be told events of these types.
 * @param kind begins the names that clients give them
 */
export const makeEndpointSchemas = (kind: string, types: readonly string[]) => {
  const events = Type.Unsafe<string[]>(eventsOf(kind, types))
  const members = {
    id: Type.String({ format: 'uuid' }),
    url: Type.String({
      description: 'Where events are sent. Members who may not manage it see it without its query.',
    }),
    events,
    status: EndpointStatus,
    disabled_reason: Type.Optional(DisabledReason),
    disabled_at: Type.Optional(time('Since when it is off.')),
    failing_since: Type.Optional(
      time('The first try that failed since the last one that arrived; absent when none did.'),
    ),
    created_at: time('When it was made.'),
  }
  const Endpoint = Type.Object(members, { title: `${kind}Endpoint` })
  return {
    Endpoint,
    CreatedEndpoint: Type.Object(
      {
        ...members,
        secret: Type.String({ description: 'What signs, shown this once.' }),
      },
      { title: `Created${kind}Endpoint` },
    ),
    EndpointList: Type.Object({
      endpoints: Type.Array(Endpoint, { description: 'In the order they were made.' }),
    }),
    NewEndpoint: Type.Object({ url, events }, { title: `New${kind}Endpoint` }),
    EndpointUpdate: Type.Object(
      {
        url: Type.Optional(url),
        events: Type.Optional(events),
        status: Type.Optional(EndpointStatus),
      },
      { title: `${kind}EndpointUpdate` },
    ),
  }
}

export type Endpoint = Static<ReturnType<typeof makeEndpointSchemas>['Endpoint']>
export type NewEndpoint = Static<ReturnType<typeof makeEndpointSchemas>['NewEndpoint']>
export type EndpointUpdate = Static<ReturnType<typeof makeEndpointSchemas>['EndpointUpdate']>

/** Answer of a rotation. */
export const EndpointSecret = Type.Object({
  secret: Type.String({ description: 'The new secret, shown this once.' }),
  created_at: time('When it was made.'),
  previous_expires_at: Type.Optional(
    time('Until when the one before signs beside it; absent when it has ended.'),
  ),
})

const { status: _status, sequence: _sequence, ...told } = TaskEvent.properties

/** An event that an endpoint was told, or is to be told. */
export const EndpointEvent = Type.Object({
  ...told,
  type: Type.String({ description: 'What happened.' }),
  sequence: Type.Integer({
    minimum: 1,
    description: 'Its number among those about the same thing; the `webhook-sequence`.',
  }),
  subject_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Id of the task, version, token or membership; absent of a test.',
    }),
  ),
  created_at: time('When it happened.'),
})
export type EndpointEvent = Static<typeof EndpointEvent>

export const EndpointEvents = Type.Object({
  events: Type.Array(EndpointEvent, { description: 'Newest first.' }),
})

export const EndpointEventQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'How many.' }),
  ),
  before: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Only those before this event: the last of a page.',
    }),
  ),
  state: Type.Optional(
    Type.Enum(TaskEvent.properties.state.enum, { description: 'Only those in this state.' }),
  ),
})
export type EndpointEventQuery = Static<typeof EndpointEventQuery>

export const TestEvent = Type.Object({
  event_id: Type.String({ format: 'uuid', description: 'The `webhook-id` of every attempt.' }),
})
