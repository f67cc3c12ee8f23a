import { Type } from 'typebox'
import type { TProperties } from 'typebox'

import {
  EndpointEventQuery,
  EndpointEvents,
  EndpointSecret,
  OWNER_EVENTS,
  PUBLISHER_EVENTS,
  TestEvent,
  makeEndpointSchemas,
} from '../../domain/event/endpoint.ts'
import {
  Attempts,
  Redeliveries,
  Redelivery,
  RedeliverSince,
  SecretRotation,
} from '../../domain/event/event.ts'
import { mayDo } from '../../domain/registry/role.ts'
import type { ErrorCodeName } from '../../domain/shared/errors.ts'
import { getCaller } from '../access/caller.ts'
import { SMALL_BODY } from '../body/body-limits.ts'
import { getPublisherAccess } from '../registry/access.ts'
import { OfPublisher, PUBLISHER_ERRORS, PUBLISHER_PATH } from '../registry/paths.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import { judgeUrl } from '../task/judge-url.ts'
import { makeEndpointHandlers } from './endpoint.ts'
import type { EndpointDeps, JudgeAccess } from './endpoint.ts'

/** What differs between the endpoints of an owner of tasks and those of a publisher. */
interface Scope {
  /** As schemas are named. */
  kind: 'Owner' | 'Publisher'
  path: string
  params: TProperties
  types: readonly string[]
  /** Events that the examples show. */
  shown: string[]
  /** Of the path, and of whoever asks. */
  errors: readonly ErrorCodeName[]
  judge: JudgeAccess
}

/** The routes of endpoints: those of the caller, for tasks, and those of publishers. */
export const makeEndpointRoutes = (deps: EndpointDeps): Route[] => [
  ...routesOf(deps, {
    kind: 'Owner',
    path: '/endpoints',
    params: {},
    types: OWNER_EVENTS,
    shown: ['image_task.completed', 'image_task.failed'],
    errors: [],
    judge: (request) => {
      const holder = { owner: getCaller(request).owner, publisherId: null }
      return Promise.resolve({ holder, mayManage: true })
    },
  }),
  ...routesOf(deps, {
    kind: 'Publisher',
    path: `${PUBLISHER_PATH}/endpoints`,
    params: OfPublisher.properties,
    types: PUBLISHER_EVENTS,
    shown: ['version.active', 'version.flagged'],
    errors: [...PUBLISHER_ERRORS, 'forbidden'],
    async judge({ params, caller }, action) {
      const { publisherId } = params as OfPublisher
      const { id, role } = await getPublisherAccess(deps, {
        publisherId,
        access: action === 'read' ? 'read' : 'write',
        action: action === 'read' ? 'read_endpoints' : 'manage_endpoints',
        caller,
      })
      const mayManage = mayDo(role ?? undefined, 'manage_endpoints')
      return { holder: { owner: null, publisherId: id }, mayManage }
    },
  }),
]

const ID = '3d1f6b0e-9a2c-4f57-8b61-5c0e7d9a4f22'
const EVENT_ID = '6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21'
const AT = '2026-01-01T00:00:00.000Z'
const SECRET = `whsec_${Buffer.alloc(32).toString('base64')}`
const COMMON = { tag: 'Endpoints', auth: 'required' } as const
const NOTHING = {
  ...SMALL_BODY,
  schema: Type.Object({}),
  required: false,
  examples: { nothing: {} },
}

const makeScope = (deps: EndpointDeps, scope: Scope) => {
  const of = {
    all: Type.Object(scope.params),
    one: Type.Object({
      ...scope.params,
      endpoint_id: Type.String({ format: 'uuid', description: 'Id of the endpoint.' }),
    }),
    event: Type.Object({
      ...scope.params,
      endpoint_id: Type.String({ format: 'uuid', description: 'Id of the endpoint.' }),
      event_id: Type.String({ format: 'uuid', description: 'Id of one of its events.' }),
    }),
  }
  return {
    ...scope,
    of,
    one: `${scope.path}/:endpoint_id`,
    schemas: makeEndpointSchemas(scope.kind, scope.types),
    handlers: makeEndpointHandlers(deps, scope.judge),
    judgeBody: ({ body }: { body: Record<string, unknown> }) => judgeUrl(deps, '/url', body['url']),
    example: {
      id: ID,
      url: 'https://receiver.example.com/kiln',
      events: scope.shown,
      status: 'enabled',
      created_at: AT,
    },
  }
}

type Scoped = ReturnType<typeof makeScope>

const routesOf = (deps: EndpointDeps, scope: Scope): Route[] => {
  const scoped = makeScope(deps, scope)
  return [...managing(scoped), ...changing(scoped), ...reading(scoped), ...sending(scoped)]
}

const managing = ({ path, of, schemas, handlers, errors, example, judgeBody }: Scoped): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'post',
    path,
    summary: 'Make an endpoint',
    description: 'The answer is the only place that shows its secret.',
    params: of.all,
    body: {
      ...SMALL_BODY,
      schema: schemas.NewEndpoint,
      examples: { some: { url: example.url, events: example.events } },
    },
    responses: {
      201: {
        description: 'The endpoint, with its secret shown this once.',
        schema: schemas.CreatedEndpoint,
        headers: ['Cache-Control'],
        example: { ...example, secret: SECRET },
      },
    },
    errors: [...errors, 'url_refused', 'endpoint_limit_reached', 'outcome_unknown'],
    secretAnswer: true,
    judge: judgeBody,
    handler: handlers.create,
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path,
    summary: 'List endpoints',
    params: of.all,
    read: 'private',
    responses: {
      200: {
        description: 'The endpoints, without secrets.',
        schema: schemas.EndpointList,
        example: { endpoints: [example] },
      },
    },
    errors,
    handler: handlers.list,
  }),
]

const changing = (scoped: Scoped): Route[] => {
  const { one: path, of, schemas, handlers, example, judgeBody } = scoped
  const errors = [...scoped.errors, 'endpoint_not_found'] as const
  return [
    defineRoute({
      ...COMMON,
      method: 'get',
      path,
      summary: 'Read an endpoint',
      params: of.one,
      read: 'private',
      responses: { 200: { description: 'The endpoint.', schema: schemas.Endpoint, example } },
      errors,
      handler: handlers.read,
    }),
    defineRoute({
      ...COMMON,
      method: 'put',
      path,
      summary: 'Change an endpoint, or switch it off or on',
      description:
        'What is not given stays. What is due goes to a new address. An endpoint that is switched off is sent nothing that is due; switched on again it is told what happens from then on.',
      params: of.one,
      body: {
        ...SMALL_BODY,
        schema: schemas.EndpointUpdate,
        examples: { off: { status: 'disabled' } },
      },
      responses: { 200: { description: 'The endpoint.', schema: schemas.Endpoint, example } },
      errors: [...errors, 'url_refused', 'outcome_unknown'],
      judge: judgeBody,
      handler: handlers.update,
    }),
    defineRoute({
      ...COMMON,
      method: 'delete',
      path,
      summary: 'Delete an endpoint',
      description: 'Nothing that is due is sent any more.',
      params: of.one,
      responses: { 204: { description: 'The endpoint is gone.' } },
      errors: [...errors, 'outcome_unknown'],
      handler: handlers.remove,
    }),
    defineRoute({
      ...COMMON,
      method: 'post',
      path: `${path}/webhook-secret/rotate`,
      summary: 'Replace the secret of an endpoint',
      description: 'The old secret goes on signing beside the new one for a while.',
      params: of.one,
      body: {
        ...SMALL_BODY,
        schema: SecretRotation,
        required: false,
        examples: { hour: { overlap_seconds: 3600 } },
      },
      responses: {
        200: {
          description: 'The new secret, shown this once.',
          schema: EndpointSecret,
          headers: ['Cache-Control'],
          example: { secret: SECRET, created_at: AT, previous_expires_at: AT },
        },
      },
      errors: [...errors, 'outcome_unknown'],
      secretAnswer: true,
      handler: handlers.rotate,
    }),
  ]
}

const reading = (scoped: Scoped): Route[] => {
  const { one, of, handlers, example } = scoped
  const errors = [...scoped.errors, 'endpoint_not_found'] as const
  return [
    defineRoute({
      ...COMMON,
      method: 'get',
      path: `${one}/events`,
      summary: 'List what an endpoint was told, and is to be told',
      params: of.one,
      query: EndpointEventQuery,
      responses: {
        200: {
          description: 'The events, newest first.',
          schema: EndpointEvents,
          example: {
            events: [
              {
                id: EVENT_ID,
                type: example.events[0],
                sequence: 2,
                subject_id: ID,
                created_at: AT,
                state: 'delivered',
                attempts: 1,
              },
            ],
          },
        },
      },
      errors,
      handler: handlers.events,
    }),
    defineRoute({
      ...COMMON,
      method: 'get',
      path: `${one}/events/:event_id/attempts`,
      summary: 'List the attempts at telling an endpoint of an event',
      params: of.event,
      responses: {
        200: {
          description: 'The attempts, in order.',
          schema: Attempts,
          example: {
            attempts: [
              {
                event_id: EVENT_ID,
                number: 1,
                url: example.url,
                started_at: AT,
                duration_ms: 120,
                status: 204,
                excerpt: '',
              },
            ],
          },
        },
      },
      errors: [...errors, 'event_not_found'],
      handler: handlers.attempts,
    }),
  ]
}

const sending = (scoped: Scoped): Route[] => {
  const { one, of, handlers } = scoped
  const errors = [
    ...scoped.errors,
    'endpoint_not_found',
    'endpoint_disabled',
    'outcome_unknown',
  ] as const
  return [
    defineRoute({
      ...COMMON,
      method: 'post',
      path: `${one}/test`,
      summary: 'Send a test event',
      description: 'Its type is `endpoint.test`. It is signed, tried and logged like every other.',
      params: of.one,
      body: NOTHING,
      responses: {
        202: {
          description: 'The event is sent; the log tells what becomes of it.',
          schema: TestEvent,
          example: { event_id: EVENT_ID },
        },
      },
      errors,
      handler: handlers.test,
    }),
    defineRoute({
      ...COMMON,
      method: 'post',
      path: `${one}/events/:event_id/redeliver`,
      summary: 'Send an event to its endpoint again',
      description:
        'Begins one more schedule for the event, with the same `webhook-id`, beside the order.',
      params: of.event,
      body: NOTHING,
      responses: {
        202: {
          description: 'The event is sent again.',
          schema: Redelivery,
          example: { redelivery_id: ID },
        },
      },
      errors: [...errors, 'event_not_found', 'not_deliverable'],
      handler: handlers.redeliver,
    }),
    defineRoute({
      ...COMMON,
      method: 'post',
      path: `${one}/redeliver`,
      summary: 'Send all that an endpoint has missed again',
      description:
        'The events since a time that were given up, or stopped while it was off. One request sends 10,000 of them at most.',
      params: of.one,
      body: {
        ...SMALL_BODY,
        schema: RedeliverSince,
        examples: { day: { since: '2026-01-01T00:00:00Z' } },
      },
      responses: {
        202: {
          description: 'How many are sent again.',
          schema: Redeliveries,
          example: { redeliveries: 3 },
        },
      },
      errors,
      handler: handlers.redeliverSince,
    }),
  ]
}
