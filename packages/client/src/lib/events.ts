import type { paths } from '../generated/openapi.ts'
import { responseOf, toInit } from './http.ts'
import type { Http } from './http.ts'
import { after, readPages } from './pages.ts'
import type { ListOf } from './pages.ts'
import type { ReadOf } from './task.ts'
import type { ReadOptions } from './tasks.ts'

type BodyOf<Route> = Route extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

/** An event of a task with what has become of its delivery. */
export type Event = ReadOf<'/events'>['events'][number]
/** A subscription to the events of all tasks. */
export type Endpoint = ReadOf<'/endpoints/{endpoint_id}'>
export type EndpointEvent = ReadOf<'/endpoints/{endpoint_id}/events'>['events'][number]
export type NewEndpoint = BodyOf<paths['/endpoints']['post']>
export type EndpointUpdate = BodyOf<paths['/endpoints/{endpoint_id}']['put']>
/** Times between which events are sent again, `batch_id`, or `all: true`. */
export type Redelivery = BodyOf<paths['/events/redeliver']['post']>
/** `overlap_seconds` is the time for which the secret before signs, too: a day unless given. */
export type Rotation = BodyOf<paths['/webhook-secret/rotate']['post']>

const ofTaskEvent = (options: ReadOptions, task_id: string, event_id: string) =>
  toInit(options, { path: { task_id, event_id } })

export const makeEvents = ({ routes: { GET, POST } }: Http) => {
  return {
    /** Lists the events of the caller's tasks, those of the newest task first. */
    list: (
      { limit, ...filter }: ListOf<'/events'> = {},
      options: ReadOptions = {},
    ): AsyncGenerator<Event> =>
      readPages(limit, async (asked) => {
        const init = toInit(options, { query: { ...filter, ...after(asked) } })
        const { events, next } = await responseOf(GET('/events', init))
        return { items: events, next }
      }),
    /** Lists the events of a task. */
    ofTask: async (task_id: string, options: ReadOptions = {}) =>
      (await responseOf(GET('/tasks/{task_id}/events', toInit(options, { path: { task_id } }))))
        .events,
    /** Lists the attempts at delivering an event. */
    attempts: async (taskId: string, eventId: string, options: ReadOptions = {}) => {
      const path = '/tasks/{task_id}/events/{event_id}/attempts'
      return (await responseOf(GET(path, ofTaskEvent(options, taskId, eventId)))).attempts
    },
    /** Sends an event again. */
    redeliver: (taskId: string, eventId: string, options: ReadOptions = {}) => {
      const path = '/tasks/{task_id}/events/{event_id}/redeliver'
      return responseOf(POST(path, ofTaskEvent(options, taskId, eventId)))
    },
    /** Sends all events that have failed again. */
    redeliverAll: (body: Redelivery, options: ReadOptions = {}) =>
      responseOf(POST('/events/redeliver', { ...toInit(options), body })),
  }
}

const of = (options: ReadOptions, endpoint_id: string) => toInit(options, { path: { endpoint_id } })
const ofEvent = (options: ReadOptions, endpoint_id: string, event_id: string) =>
  toInit(options, { path: { endpoint_id, event_id } })

export const makeEndpoints = ({ routes: { GET, POST, PUT, DELETE } }: Http) => {
  const root = '/endpoints/{endpoint_id}'
  return {
    list: async (options: ReadOptions = {}): Promise<Endpoint[]> =>
      (await responseOf(GET('/endpoints', toInit(options)))).endpoints,
    /** Makes an endpoint. Its `secret` is in this response alone. */
    create: (body: NewEndpoint, options: ReadOptions = {}) =>
      responseOf(POST('/endpoints', { ...toInit(options), body })),
    read: (id: string, options: ReadOptions = {}): Promise<Endpoint> =>
      responseOf(GET(root, of(options, id))),
    /** Changes an endpoint, or switches it off or on by `status`. */
    update: (id: string, body: EndpointUpdate, options: ReadOptions = {}): Promise<Endpoint> =>
      responseOf(PUT(root, { ...of(options, id), body })),
    delete: async (id: string, options: ReadOptions = {}): Promise<void> => {
      await DELETE(root, of(options, id))
    },
    /** Replaces the secret of an endpoint, and returns the new one. */
    rotateSecret: (id: string, body: Rotation = {}, options: ReadOptions = {}) =>
      responseOf(POST(`${root}/webhook-secret/rotate`, { ...of(options, id), body })),
    /** Sends an event of the type `endpoint.test`. */
    test: (id: string, options: ReadOptions = {}) =>
      responseOf(POST(`${root}/test`, of(options, id))),
    /** Lists the events that an endpoint was sent or is to be sent, the newest first. */
    events: (
      id: string,
      { limit, ...filter }: ListOf<'/endpoints/{endpoint_id}/events'> = {},
      options: ReadOptions = {},
    ): AsyncGenerator<EndpointEvent> =>
      readPages(limit, async ({ limit: size, cursor: before }) => {
        const query = { ...filter, limit: size, ...(before !== undefined && { before }) }
        const init = toInit(options, { path: { endpoint_id: id }, query })
        const { events } = await responseOf(GET(`${root}/events`, init))
        return { items: events, next: events.length < size ? undefined : events.at(-1)?.id }
      }),
    /** Lists the attempts at sending an event to an endpoint. */
    attempts: async (id: string, eventId: string, options: ReadOptions = {}) => {
      const init = ofEvent(options, id, eventId)
      return (await responseOf(GET(`${root}/events/{event_id}/attempts`, init))).attempts
    },
    /** Sends an event to its endpoint again. */
    redeliver: (id: string, eventId: string, options: ReadOptions = {}) =>
      responseOf(POST(`${root}/events/{event_id}/redeliver`, ofEvent(options, id, eventId))),
    /** Sends all that an endpoint has missed again. */
    redeliverAll: (id: string, body: Redelivery, options: ReadOptions = {}) =>
      responseOf(POST(`${root}/redeliver`, { ...of(options, id), body })),
  }
}

/** The secrets that sign the notifications of tasks and batches; an endpoint has one of its own. */
export const makeSecrets = ({ routes: { GET, POST } }: Http) => ({
  list: async (options: ReadOptions = {}) =>
    (await responseOf(GET('/webhook-secret', toInit(options)))).secrets,
  /** Replaces the secret; returns the new one, and the one before with its end. */
  rotate: async (body: Rotation = {}, options: ReadOptions = {}) =>
    (await responseOf(POST('/webhook-secret/rotate', { ...toInit(options), body }))).secrets,
})
