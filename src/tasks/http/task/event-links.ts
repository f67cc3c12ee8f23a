import type { ResponseSpec } from '../../../platform/http/route.ts'

type Links = NonNullable<ResponseSpec['links']>

const EVENTS_PATH = '/tasks/:task_id/events'

/** Links to the events of a new task. @param id the runtime expression of its id */
export const linkToEvents = (id: string): Links => ({
  events: { method: 'get', path: EVENTS_PATH, parameters: { task_id: id } },
})

const FIRST_EVENT = { task_id: '$request.path.task_id', event_id: '$response.body#/events/0/id' }

/** Links from the first of a list of events. */
export const EVENT_LINKS: Links = {
  attempts: {
    method: 'get',
    path: `${EVENTS_PATH}/:event_id/attempts`,
    parameters: FIRST_EVENT,
  },
  redeliver: {
    method: 'post',
    path: `${EVENTS_PATH}/:event_id/redeliver`,
    parameters: FIRST_EVENT,
  },
}
