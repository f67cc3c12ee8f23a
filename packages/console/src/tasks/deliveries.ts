import { useQuery } from '@tanstack/react-query'

import { readQuery, send } from '../api/client.ts'
import type { TaskEvent } from './types.ts'

/** Delivery of an event to the webhook URL of its task, or to a subscription. */
export type Delivery<Of extends TaskEvent = TaskEvent> = Of & {
  task_id: string
  endpoint_id?: string
}

/** Lists what is sent of events, each to one address; what is kept for the log alone is not there. */
export const listDeliveries = <Of extends TaskEvent>(
  events: readonly (Of & { task_id: string })[],
): Delivery<Of>[] =>
  events.flatMap((event) => {
    const toSubscriptions = event.subscriptions ?? []
    const { next_attempt_at: _next, waits_for: _reason, ...rest } = event
    return [
      ...(event.state === 'unsent' ? [] : [event]),
      ...toSubscriptions.map((delivery) => ({ ...rest, ...delivery }) as Delivery<Of>),
    ]
  })

/** The caller's webhook subscriptions: their addresses by their ids, and whether one is sent events of tasks of a family. */
export const useSubscriptions = (family = '') => {
  const { endpoints = [] } = useQuery(readQuery('/endpoints', {})).data ?? {}
  return {
    urls: new Map<string | undefined, string>(endpoints.map(({ id, url }) => [id, url])),
    isSubscribed: endpoints.some(
      ({ status, events }) =>
        status === 'enabled' && events.some((one) => one.startsWith(`${family}_task.`)),
    ),
  }
}

/** Sends an event once more to the address that it was sent to. */
export const resend = ({ id: event_id, task_id, endpoint_id }: Delivery): Promise<unknown> =>
  endpoint_id === undefined
    ? send('POST', '/tasks/{task_id}/events/{event_id}/redeliver', { path: { task_id, event_id } })
    : send('POST', '/endpoints/{endpoint_id}/events/{event_id}/redeliver', {
        path: { endpoint_id, event_id },
      })
