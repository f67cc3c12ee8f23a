import { Webhook } from 'standardwebhooks'

import type { Attempt, WebhookSecret } from '../../../src/events/domain/event.ts'
import type { TaskEvent } from '../../../src/tasks/domain/task-event.ts'
import type { Client } from '../../support/client.ts'
import type { Received, WebhookReceiver } from '../../support/receiver.ts'
import { waitFor } from '../../support/wait.ts'

/** A body that a receiver was sent; a test reads members whose shape is what it asserts. */
export type Notified = Record<string, never> & {
  task_id?: string
  id?: string
  status?: string
  state?: string
  generated?: string[]
  error?: { code: string; message: string }
}

/** Verifies a request as a receiver does: the public verifier throws when it is not ours. */
export const verify = ({ body, headers }: Received, secret: string): Notified =>
  new Webhook(secret).verify(body.toString(), headers as Record<string, string>) as Notified

export const isSignedWith = (request: Received, secret: string): boolean => {
  try {
    verify(request, secret)
    return true
  } catch {
    return false
  }
}

export const headersOf = (requests: readonly Received[], name: string): unknown[] =>
  requests.map(({ headers }) => headers[name])

export const receivedStatus = ({ body }: Received): string => {
  const webhook = JSON.parse(body.toString()) as Notified
  return webhook.status ?? webhook.state ?? ''
}

/** The secrets that sign what the receivers of a caller are sent, newest first. */
export const secretsOf = async (client: Client): Promise<string[]> => {
  const { body } = await client.get('/webhook-secret')
  return (body['secrets'] as unknown as WebhookSecret[]).map(({ secret }) => secret)
}

export const secretOf = async (client: Client): Promise<string> =>
  (await secretsOf(client))[0] ?? ''

/** Waits until a path of a receiver was sent so many requests; returns all it was sent. */
export const untilReceived = async (
  receiver: WebhookReceiver,
  path: string,
  count: number,
): Promise<Received[]> =>
  await waitFor(`${count} requests at ${path}`, () => {
    const found = receiver.of(path)
    return Promise.resolve(found.length >= count && found)
  })

export const eventsOf = async (client: Client, taskId: string): Promise<TaskEvent[]> =>
  (await client.get(`/tasks/${taskId}/events`)).body['events'] as unknown as TaskEvent[]

/** Waits until the last event of an ended task has ended, and with it all others; returns all. */
export const untilSettled = async (client: Client, taskId: string): Promise<TaskEvent[]> =>
  await waitFor(`the events of ${taskId} have ended`, async () => {
    const events = await eventsOf(client, taskId)
    const last = events.at(-1)
    const hasEnded = ['COMPLETED', 'FAILED', 'success', 'failed'].includes(last?.status ?? '')
    return hasEnded && events.every(({ state }) => state !== 'pending') && events
  })

export const statesOf = (events: readonly TaskEvent[]): [number, string, string][] =>
  events.map(({ sequence, status, state }) => [sequence, status, state])

export const attemptsOf = async (
  client: Client,
  taskId: string,
  { id }: Pick<TaskEvent, 'id'>,
): Promise<Attempt[]> =>
  (await client.get(`/tasks/${taskId}/events/${id}/attempts`)).body[
    'attempts'
  ] as unknown as Attempt[]

export const endOf = (events: readonly TaskEvent[]): TaskEvent => {
  const end = events.at(-1)
  if (!end) throw new Error('a task without events')
  return end
}
