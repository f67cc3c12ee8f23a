import { Type, type Static } from 'typebox'

import { DELIVERED_STATUSES } from '../../tasks/domain/image/image-task.ts'
import { ENDPOINT_ACCOUNT } from '../../platform/domain/account.ts'
import { ADDRESS_MAX, ADDRESS_PATTERN } from '../../platform/domain/address.ts'
import { instant, uuid } from '../../platform/domain/schema-fields.ts'
import { DeliveryState, TaskEvent } from '../../tasks/domain/task-event.ts'
import { TaskKind } from '../../tasks/domain/task-item.ts'
import { LABEL_LIST, LabelText } from '../../tasks/domain/task-options.ts'
import { VIDEO_DELIVERED_STATES } from '../../tasks/domain/video/video-task.ts'
import { OwnHeaders } from './endpoint-headers.ts'

const typesOf = (noun: string, verbs: readonly string[]): string[] =>
  verbs.map((verb) => `${noun}.${verb.toLowerCase()}`)

/** Event types of a key and a token that end soon. */
export const KEY_EXPIRING = 'api_key.expiring'
export const TOKEN_EXPIRING = 'token.expiring'

/** Event types that a publisher can subscribe to. */
export const PUBLISHER_EVENTS: readonly string[] = [
  ...typesOf('version', ['received', 'active', 'flagged', 'banned', 'deleted']),
  ...typesOf('review', ['requested', 'decided']),
  ...typesOf('token', ['created', 'revoked']),
  TOKEN_EXPIRING,
  ...typesOf('member', ['added', 'changed', 'removed']),
]

/** Event types that an owner of tasks can subscribe to. The webhook URL of a task or batch gets the same types. */
export const OWNER_EVENTS: readonly string[] = [
  ...typesOf('image_task', DELIVERED_STATUSES),
  ...typesOf('video_task', VIDEO_DELIVERED_STATES),
  'batch.ended',
  'operation.ended',
  KEY_EXPIRING,
]

/** Event types of conditions of the service, which are notified of when they begin. */
export const PLATFORM_NOTICES = {
  queue: 'queue.older_than',
  store: 'store.nearly_full',
} as const
export type PlatformCondition = keyof typeof PLATFORM_NOTICES

/** Event types that platform admins can subscribe to. */
export const PLATFORM_EVENTS: readonly string[] = [
  'version.flagged',
  'review.requested',
  'report.made',
  'breaker.opened',
  'breaker.closed',
  'engine.crashed',
  'workflow.failed',
  ...Object.values(PLATFORM_NOTICES),
]

export const EndpointFormat = Type.Enum(['json', 'slack'], {
  description:
    'Form of the body: `json` as all events have it, or `slack`, one text as incoming webhooks of Slack take it.',
})
export type EndpointFormat = Static<typeof EndpointFormat>

/** The type of what is sent on request alone. */
export const TEST_EVENT = 'endpoint.test'

/** The status that a task moved to, by the type of the event. Image tasks have theirs in capitals. */
export const taskStatusOf = (type: string): string => {
  const [task, status = ''] = type.split('.')
  return task === 'image_task' ? status.toUpperCase() : status
}

/** Owner of the secrets that sign for a webhook subscription. No user has such an id. */
export const endpointSecretOwner = (id: string): string => `${ENDPOINT_ACCOUNT}${id}`

/**
 * Reason of a subscription that is off: its manager, a 410 of its webhook URL, a week in which nothing arrived, or the end
 * of the membership of whoever made it.
 */
export const DisabledReason = Type.Enum(['requested', 'gone', 'failing', 'member_removed'], {
  description:
    'Why it is off: `requested` by whoever manages it, `gone` (its URL responded with 410), `failing` (nothing arrived for a week), `member_removed` (whoever made it is no member any more).',
})
export type DisabledReason = Static<typeof DisabledReason>

export const EndpointStatus = Type.Enum(['enabled', 'disabled'], {
  description: 'Whether events are sent to it.',
})

type Kind = 'Owner' | 'Publisher' | 'Platform'

/** The member that endpoints of the platform alone have. */
const formatOf = (kind: Kind) => {
  const member = { format: Type.Optional(EndpointFormat) }
  return kind === 'Platform' ? member : ({} as typeof member)
}

const FILTERS = {
  labels: Type.Optional(
    Type.Array(LabelText, {
      maxItems: LABEL_LIST.maxItems,
      description:
        'Only events of tasks with this label, as `key:value`; of several, with all of them. Events of batches, operations and API keys are sent all the same.',
    }),
  ),
  kinds: Type.Optional(
    Type.Array(TaskKind, {
      maxItems: 50,
      uniqueItems: true,
      description: 'Only events of tasks of these kinds; an empty list is all.',
    }),
  ),
}

/** The members that endpoints of owners of tasks alone have. */
const filtersOf = (kind: Kind) => (kind === 'Owner' ? FILTERS : ({} as typeof FILTERS))

/**
 * Makes the schemas of webhook subscriptions to events of these types.
 * @param kind begins the names that clients give them
 */
export const makeEndpointSchemas = (kind: Kind, types: readonly string[]) => {
  const events = Type.Unsafe<string[]>(
    Type.Array(Type.Enum([...types], { title: `${kind}EventType` }), {
      minItems: 1,
      maxItems: types.length,
      uniqueItems: true,
      description: 'Types of the events that are sent to it.',
      'x-expectation': `a list of at least one of ${types.join(', ')}, each once`,
    }),
  )
  const description = 'Where events are sent. Members who may not manage it see its host alone.'
  const pattern = { 'x-pattern': ADDRESS_PATTERN }
  const url = Type.String({ minLength: 1, maxLength: ADDRESS_MAX, ...pattern, description })
  const given = {
    url,
    events,
    ...formatOf(kind),
    ...filtersOf(kind),
  }
  const written = { ...given, headers: Type.Optional(OwnHeaders) }
  const members = {
    id: uuid('Id of the endpoint.'),
    ...given,
    header_names: Type.Optional(
      Type.Array(Type.String(), { description: 'Names of its own headers.' }),
    ),
    status: EndpointStatus,
    disabled_reason: Type.Optional(DisabledReason),
    disabled_at: Type.Optional(instant('Since when it is off.')),
    failing_since: Type.Optional(
      instant('The first attempt that failed since the last that arrived.'),
    ),
    created_at: instant('When it was made.'),
    created_by: Type.Optional(
      Type.String({ description: 'Id of the user who made it, where it is one of a publisher.' }),
    ),
  }
  const secret = Type.String({ description: 'What signs, shown this once.' })
  const Endpoint = Type.Object(members, { title: `${kind}Endpoint` })
  return {
    Endpoint,
    CreatedEndpoint: Type.Object({ ...members, secret }, { title: `Created${kind}Endpoint` }),
    EndpointList: Type.Object({
      endpoints: Type.Array(Endpoint, { description: 'In the order they were made.' }),
    }),
    NewEndpoint: Type.Object(written, { title: `New${kind}Endpoint` }),
    EndpointUpdate: Type.Partial(Type.Object({ ...written, status: EndpointStatus }), {
      title: `${kind}EndpointUpdate`,
    }),
  }
}

type Schemas = ReturnType<typeof makeEndpointSchemas>
export type Endpoint = Static<Schemas['Endpoint']>
export type NewEndpoint = Static<Schemas['NewEndpoint']>
export type EndpointUpdate = Static<Schemas['EndpointUpdate']>

/** Response of a rotation. */
export const EndpointSecret = Type.Object({
  secret: Type.String({ description: 'The new secret, shown this once.' }),
  created_at: instant('When it was made.'),
  previous_expires_at: Type.Optional(instant('Until when the one before signs beside it.')),
})

const { status: _status, ...reported } = TaskEvent.properties

/** Event of a webhook subscription, delivered or not. Its sequence counts those about the same subject. */
export const EndpointEvent = Type.Object({
  ...reported,
  type: Type.String({ description: 'What happened.' }),
  subject_id: Type.Optional(
    uuid('The task, version, token, API key or membership; absent of a test.'),
  ),
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
      'x-expectation': 'the id of an event of this endpoint, a UUID',
    }),
  ),
  state: Type.Optional(Type.Enum(DeliveryState.enum, { description: 'Only those in this state.' })),
})
export type EndpointEventQuery = Static<typeof EndpointEventQuery>

export const TestEvent = Type.Object({ event_id: uuid('The `webhook-id` of every attempt.') })
