import { Type, type TObject, type TProperties, type TSchema } from 'typebox'

import {
  EndpointEventQuery,
  EndpointEvents,
  EndpointSecret,
  OWNER_EVENTS,
  PLATFORM_EVENTS,
  TestEvent,
  makeEndpointSchemas,
} from '../domain/endpoint.ts'
import {
  Attempts,
  Redeliveries,
  Redelivery,
  MissedEvents,
  MissedTaskEvents,
  SecretRotation,
} from '../domain/event.ts'
import { validateOwnHeaders } from '../domain/endpoint-headers.ts'
import { PLATFORM_ACCOUNT } from '../../platform/domain/account.ts'
import { uuid } from '../../platform/domain/schema-fields.ts'
import { validateAll } from '../../platform/domain/time-bounds.ts'
import type { ErrorCodeName } from '../../platform/domain/errors.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import type { ResponseOf, BodySpec, Method, Route } from '../../platform/http/route.ts'
import { validateUrl } from '../../tasks/inputs.ts'
import { makeEndpointHandlers, type EndpointDeps, type AuthorizeAccess } from './endpoint.ts'

/** Differences between the endpoints of an owner of tasks, a publisher and the platform. */
export interface EndpointScope {
  /** As schemas are named. */
  kind: 'Owner' | 'Publisher' | 'Platform'
  path: string
  params: TProperties
  types: readonly string[]
  /** Errors about the path and the caller. */
  errors: readonly ErrorCodeName[]
  validate: AuthorizeAccess
}

/** Makes the routes of endpoints: for the caller's tasks, for publishers, and for platform admins. */
export const makeEndpointRoutes = (deps: EndpointDeps, publisher: EndpointScope): Route[] => [
  ...routesOf(deps, {
    kind: 'Owner',
    path: '/endpoints',
    params: {},
    types: OWNER_EVENTS,
    errors: [],
    validate: (request) => {
      const holder = { owner: getCaller(request).owner, publisherId: null }
      return Promise.resolve({ holder, mayManage: true })
    },
  }),
  ...routesOf(deps, publisher),
  ...routesOf(deps, {
    kind: 'Platform',
    path: '/admin/endpoints',
    params: {},
    types: PLATFORM_EVENTS,
    errors: ['forbidden'],
    validate: (request) => {
      requirePlatformAdmin(getCaller(request))
      const holder = { owner: PLATFORM_ACCOUNT, publisherId: null }
      return Promise.resolve({ holder, mayManage: true })
    },
  }),
]

const ID = '3d1f6b0e-9a2c-4f57-8b61-5c0e7d9a4f22'
const EVENT_ID = '6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21'
const AT = '2026-01-01T00:00:00.000Z'
const SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`
const URL = 'https://hooks.example.com/kiln'

const NOTIFIED = {
  id: EVENT_ID,
  type: 'endpoint.test',
  sequence: 1,
  created_at: AT,
  state: 'delivered',
  attempts: 1,
}
const ATTEMPT = { event_id: EVENT_ID, number: 1, url: URL, started_at: AT, status: 204 }

const ENDPOINT = { endpoint_id: uuid('Id of the endpoint.') }
const EVENT = { ...ENDPOINT, event_id: uuid('Id of one of its events.') }

const body = (schema: TSchema, example: object, required = true): BodySpec => ({
  ...SMALL_BODY,
  schema,
  required,
  examples: { some: example },
})
const NOTHING = body(Type.Object({}), {}, false)

/** Response of a route: its status, what that means, and an example by a schema. */
type Responses = [status: number, description: string, schema?: TSchema, example?: object]

type More = Partial<
  Pick<Route, 'description' | 'read' | 'secretResponse' | 'validate' | 'requestHeaders'>
> & {
  body?: BodySpec
  query?: TObject
  errors?: readonly ErrorCodeName[]
}

const routesOf = (deps: EndpointDeps, scope: EndpointScope): Route[] => {
  const { Endpoint, CreatedEndpoint, EndpointList, NewEndpoint, EndpointUpdate } =
    makeEndpointSchemas(scope.kind, scope.types)
  const handle = makeEndpointHandlers(deps, scope.validate)
  const events = scope.types.slice(1, 3)
  const shown = { id: ID, url: URL, events, status: 'enabled', created_at: AT }
  const validate: Route['validate'] = ({ body }) => [
    ...validateUrl(deps, '/url', body['url']),
    ...validateOwnHeaders(body['headers']),
  ]

  const route =
    (at: string, params: TProperties, failures: readonly ErrorCodeName[] = []) =>
    <const M extends Method>(
      [method, last, summary]: [method: M, last: string, summary: string],
      [status, description, schema, example]: Responses,
      handler: (request: never) => Promise<ResponseOf<M>>,
      { errors = [], ...more }: More = {},
    ): Route => ({
      tag: 'Endpoints',
      auth: 'required',
      method,
      path: `${scope.path}${at}${last}`,
      summary,
      params: Type.Object({ ...scope.params, ...params }),
      responses: {
        [status]: {
          description,
          ...(schema && { schema, example }),
          ...(more.secretResponse && { headers: ['Cache-Control'] as const }),
        },
      },
      errors: [
        ...scope.errors,
        ...failures,
        ...errors,
        ...(method === 'get' ? [] : (['outcome_unknown'] as const)),
      ],
      handler,
      ...more,
    })
  const all = route('', {})
  const one = route('/:endpoint_id', ENDPOINT, ['endpoint_not_found'])
  const event = route('/:endpoint_id/events/:event_id', EVENT, [
    'endpoint_not_found',
    'event_not_found',
  ])

  return [
    all(
      ['post', '', 'Make an endpoint'],
      [201, 'The endpoint, with its secret.', CreatedEndpoint, { ...shown, secret: SECRET }],
      handle.create,
      {
        description: 'The response is the only place that shows its secret.',
        body: body(NewEndpoint, { url: URL, events }),
        errors: ['url_refused', 'endpoint_limit_reached'],
        secretResponse: true,
        validate,
      },
    ),
    all(
      ['get', '', 'List endpoints'],
      [200, 'The endpoints, without secrets.', EndpointList, { endpoints: [shown] }],
      handle.list,
      { read: 'private' },
    ),
    one(['get', '', 'Read an endpoint'], [200, 'The endpoint.', Endpoint, shown], handle.read, {
      read: 'private',
    }),
    one(
      ['put', '', 'Change an endpoint, or switch it off or on'],
      [200, 'The endpoint.', Endpoint, shown],
      handle.update,
      {
        description:
          'What is not given stays; `headers` are replaced as a whole, and a URL of another host removes them. What is due goes to a new address. An endpoint that is switched off is sent nothing that is due; switched on again it gets what happens from then on.',
        body: {
          ...body(EndpointUpdate, { status: 'disabled' }),
          sentBack: Object.keys(Endpoint.properties),
        },
        requestHeaders: ['If-Match'],
        errors: ['url_refused', 'precondition_failed'],
        validate,
      },
    ),
    one(['delete', '', 'Delete an endpoint'], [204, 'It is gone.'], handle.remove, {
      description: 'Nothing that is due is sent any more.',
    }),
    one(
      ['post', '/webhook-secret/rotate', 'Replace the secret of an endpoint'],
      [200, 'The new secret.', EndpointSecret, { secret: SECRET, created_at: AT }],
      handle.rotate,
      {
        description:
          'The response alone shows it. The old secret goes on signing beside it for a while.',
        body: body(SecretRotation, { overlap_seconds: 3600 }, false),
        secretResponse: true,
      },
    ),
    one(
      ['post', '/test', 'Send a test event'],
      [202, 'It is sent; the log shows what becomes of it.', TestEvent, { event_id: EVENT_ID }],
      handle.test,
      {
        description:
          'Its type is `endpoint.test`. It is signed, tried and logged like every other.',
        body: NOTHING,
        errors: ['endpoint_disabled'],
      },
    ),
    one(
      ['post', '/redeliver', 'Send all that an endpoint has missed again'],
      [202, 'How many are sent again.', Redeliveries, { redeliveries: 3 }],
      handle.redeliverMissed,
      {
        description:
          'The events within bounds of time that were given up, or stopped while it was off; pending ones that have failed are due at once. One request takes 10,000 of each at most.',
        body: body(scope.kind === 'Owner' ? MissedTaskEvents : MissedEvents, {
          since: '2026-01-01T00:00:00Z',
        }),
        validate: ({ body: { all, ...choice } }) => validateAll(choice, all),
        errors: ['endpoint_disabled'],
      },
    ),
    one(
      ['get', '/events', 'List the events that an endpoint was sent or is to be sent'],
      [200, 'The events, newest first.', EndpointEvents, { events: [NOTIFIED] }],
      handle.events,
      { query: EndpointEventQuery },
    ),
    event(
      ['get', '/attempts', 'List the attempts at sending an event to an endpoint'],
      [200, 'The attempts, in order.', Attempts, { attempts: [ATTEMPT] }],
      handle.attempts,
    ),
    event(
      ['post', '/redeliver', 'Send an event to its endpoint again'],
      [202, 'The event is sent again.', Redelivery, { redelivery_id: ID }],
      handle.redeliver,
      {
        description:
          'Begins one more schedule for the event, with the same `webhook-id`, beside the order.',
        body: NOTHING,
        errors: ['endpoint_disabled', 'not_deliverable'],
      },
    ),
  ]
}
