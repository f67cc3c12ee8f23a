import { Type } from 'typebox'

import { withinDeadline } from '../../platform/db/client.ts'
import { listEvents } from '../../tasks/db/event-log.ts'
import { listAttempts, redeliverMissed } from '../db/redelivery.ts'
import { errors } from '../../platform/domain/errors.ts'
import { Attempts, Redeliveries, Redelivery, MissedTaskEvents } from '../domain/event.ts'
import { FAMILIES } from '../../tasks/domain/family.ts'
import { TaskEvents } from '../../tasks/domain/task-event.ts'
import { readBounds, validateAll } from '../../platform/domain/time-bounds.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { ownerOf, tasksOf } from '../../platform/http/access/caller.ts'
import { getEventId, redeliverAll, redeliverOne, type RedeliveryDeps } from './redeliver.ts'
import { defineRoute, type Route } from '../../platform/http/route.ts'
import { EVENT_LINKS } from '../../tasks/http/task/event-links.ts'
import { OfTask, readTaskId } from '../../tasks/http/task/task-id.ts'

const COMMON = { tag: 'Events', auth: 'optional' } as const
const TASK_ID = '0f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'
const EVENT_ID = '6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21'

const OfEvent = Type.Object({
  ...OfTask.properties,
  event_id: Type.String({ format: 'uuid', description: 'Id of one of its events.' }),
})

/** Routes of the log of task events that were sent to webhook URLs, and of redelivery. */
export const makeEventRoutes = (deps: RedeliveryDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/tasks/:task_id/events',
    summary: 'List the events of a task and what has become of their delivery',
    params: OfTask,
    responses: {
      200: {
        description: 'The events, in order.',
        schema: TaskEvents,
        links: EVENT_LINKS,
        example: {
          webhook_url: 'https://hooks.example.com/kiln',
          events: [
            {
              id: EVENT_ID,
              sequence: 2,
              status: FAMILIES.image.words.running,
              created_at: '2026-01-01T00:00:01.000Z',
              state: 'pending',
              attempts: 1,
              next_attempt_at: '2026-01-01T00:00:07.000Z',
            },
          ],
        },
      },
    },
    errors: ['task_not_found'],
    handler: async (request) => {
      const taskId = readTaskId(request.params.task_id)
      const found = listEvents(deps.sql, { taskId, owner: ownerOf(request) })
      const body = await withinDeadline(deps.sql, found)
      if (!body) throw errors.taskNotFound(taskId)
      return { status: 200, body }
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/tasks/:task_id/events/:event_id/attempts',
    summary: 'List the attempts at delivering an event',
    params: OfEvent,
    responses: {
      200: {
        description: 'The attempts, in order.',
        schema: Attempts,
        example: {
          attempts: [
            {
              event_id: EVENT_ID,
              number: 1,
              url: 'https://hooks.example.com/kiln',
              started_at: '2026-01-01T00:00:02.000Z',
              duration_ms: 120,
              status: 503,
              error_class: 'status_5xx',
              excerpt: 'busy',
              next_attempt_at: '2026-01-01T00:00:07.000Z',
            },
          ],
        },
      },
    },
    errors: ['task_not_found', 'event_not_found'],
    handler: async (request) => {
      const eventId = await getEventId(deps, request)
      return {
        status: 200,
        body: { attempts: await withinDeadline(deps.sql, listAttempts(deps.sql, eventId)) },
      }
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/tasks/:task_id/events/:event_id/redeliver',
    summary: 'Send an event again',
    description:
      'Begins one more schedule of deliveries for the event, with the same `webhook-id`. It does not wait for other events of the task. Events of anonymous tasks, and hosts that these name, have a limit.',
    params: OfEvent,
    body: { ...SMALL_BODY, schema: Type.Object({}), required: false, examples: { nothing: {} } },
    responses: {
      202: {
        description:
          'The event is sent again. Until that has ended, a repetition returns the same id.',
        schema: Redelivery,
        example: { redelivery_id: TASK_ID },
      },
    },
    errors: [
      'task_not_found',
      'event_not_found',
      'not_deliverable',
      'redelivery_limit_reached',
      'outcome_unknown',
    ],
    handler: async (request) => redeliverOne(deps, request, await getEventId(deps, request)),
  }),
  defineRoute({
    ...COMMON,
    auth: 'required',
    method: 'post',
    path: '/events/redeliver',
    summary: 'Send all events of the caller that have failed again',
    description:
      'Those within bounds of time, or of a batch. Exhausted ones begin one more schedule. Pending ones are due at once, which takes no step of theirs. One request takes 10,000 of each at most.',
    body: {
      ...SMALL_BODY,
      schema: MissedTaskEvents,
      examples: { day: { since: '2026-01-01T00:00:00Z' } },
    },
    validate: ({ body: { all, ...choice } }) => validateAll(choice, all),
    responses: {
      202: {
        description: 'How many are sent again.',
        schema: Redeliveries,
        example: { redeliveries: 3 },
      },
    },
    errors: ['outcome_unknown'],
    handler: (request) => {
      const scope = tasksOf(request)
      const { batch_id: batch, ...bounds } = request.body
      return redeliverAll(deps, request, scope.owner, (sql, starts) =>
        redeliverMissed(sql, { ...scope, batch, ...readBounds(bounds) }, starts),
      )
    },
  }),
]
