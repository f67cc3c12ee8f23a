import { randomUUID } from 'node:crypto'

import { beginAttempt, completeAttempt, findWebhookUrl } from '../../../src/events/db/attempt.ts'
import type {
  AttemptKey,
  AttemptResult,
  AttemptVerdict,
  Target,
} from '../../../src/events/db/attempt.ts'
import type { Sql } from '../../../src/platform/db/client.ts'
import { insertRedelivery } from '../../../src/events/db/redelivery.ts'
import { insertEndpoint } from '../../../src/events/db/endpoint.ts'
import { transitionTask } from '../../../src/tasks/db/task-transition.ts'
import type { ImageTaskStatus } from '../../../src/tasks/domain/image/image-task.ts'
import { insertNewTask } from '../../support/task-rows.ts'

export const RECEIVER = 'https://receiver.example.com/hook'

/** Inserts an image task with a webhook URL and makes the transitions given. */
export const insertTaskWithWebhook = async (
  sql: Sql,
  transitions: readonly ImageTaskStatus[] = [],
  { url = RECEIVER, owner = 'alice' }: { url?: string | null; owner?: string } = {},
): Promise<string> => {
  const id = await sql.begin((sql) => insertNewTask(sql, { owner, webhookUrl: url }))
  for (const to of transitions) await transition(sql, id, to)
  return id
}

export const transition = (sql: Sql, id: string, to: ImageTaskStatus): Promise<boolean> =>
  sql.begin(async (sql) => {
    const error = to === 'FAILED' && { error: { code: 'cancelled', message: 'cancelled' } }
    return (await transitionTask(sql, 'image', { id, to, ...error })) !== undefined
  })

export interface SeenEvent {
  id: string
  status: string
  state: string
  failures: number
  next_attempt_at: Date | null
}

/** Inserts a webhook subscription of a new owner, which is notified of the transitions of the owner's tasks. */
export const insertSubscription = async (
  sql: Sql,
): Promise<{
  id: string
  owner: string
  transition: (...transitions: ImageTaskStatus[]) => Promise<string>
}> => {
  const owner = `owner-${randomUUID()}`
  const made = await sql.begin((sql) =>
    insertEndpoint(
      sql,
      { holder: { owner, publisherId: null }, by: owner, url: RECEIVER, events: EVENTS },
      1,
    ),
  )
  if (!made) throw new Error('there was a webhook subscription already')
  return {
    id: made.id,
    owner,
    /** Makes a task with these transitions; returns the chain of its events. */
    transition: async (...transitions) => {
      const subject = await insertTaskWithWebhook(sql, transitions, { url: null, owner })
      const [row] = await sql<{ chain: string }[]>`
        select task_id as chain from event where endpoint_id = ${made.id} and subject_id = ${subject}
      `
      return row?.chain ?? ''
    },
  }
}

const EVENTS = ['image_task.in_progress', 'image_task.completed']

/** The events of a task as the database has them, in order. */
export const seeEvents = async (sql: Sql, taskId: string): Promise<SeenEvent[]> => [
  ...(await sql<SeenEvent[]>`
    select id, status, state, failures, next_attempt_at from event
    where task_id = ${taskId} order by sequence
  `),
]

/** `IN_PROGRESS pending 0`. */
export const listStates = async (sql: Sql, taskId: string): Promise<string[]> =>
  (await seeEvents(sql, taskId)).map(({ status, state, failures }) =>
    [status, state, failures].join(' '),
  )

export const eventOf = async (sql: Sql, taskId: string, status: string): Promise<string> => {
  const found = (await seeEvents(sql, taskId)).find((event) => event.status === status)
  if (found) return found.id
  throw new Error(`no event ${status}`)
}

/** Inserts an image task in progress, whose event is due. */
export const insertDueEvent = async (
  sql: Sql,
  given?: { url?: string; owner?: string },
): Promise<{ id: string; eventId: string }> => {
  const id = await insertTaskWithWebhook(sql, ['IN_PROGRESS'], given)
  return { id, eventId: await eventOf(sql, id, 'IN_PROGRESS') }
}

export const begin = async (sql: Sql, target: Target): Promise<AttemptKey> => {
  const { url } = (await findWebhookUrl(sql, target.eventId)) ?? { url: '' }
  const begun = await sql.begin((sql) => beginAttempt(sql, target, url))
  if (begun) return { ...target, number: begun.number }
  throw new Error('there was nothing to send')
}

/** As after a first attempt that failed: further attempts are those of the task's workflow. */
export const failFirst = (sql: Sql, eventId: string) =>
  sql`update event set failures = failures + 1, next_attempt_at = now() where id = ${eventId}`

const RESULT: AttemptResult = {
  durationMs: 12.4,
  address: '203.0.113.7',
  status: 503,
  errorClass: 'status_5xx',
  answer: 'busy',
}

const TAKEN: AttemptResult = { ...RESULT, status: 204, errorClass: undefined, answer: '' }
export const AGAIN: AttemptVerdict = { state: 'pending', waitSeconds: 3600 }

const RESULTS: Record<AttemptVerdict['state'], AttemptResult> = {
  delivered: TAKEN,
  pending: RESULT,
  exhausted: RESULT,
  stopped: { ...RESULT, status: 410, errorClass: 'gone' },
}

export const complete = (sql: Sql, key: AttemptKey, verdict: AttemptVerdict): Promise<void> =>
  sql.begin((sql) => completeAttempt(sql, key, { result: RESULTS[verdict.state], verdict }))

/** Makes one attempt from its begin to its end. */
export const attempt = async (
  sql: Sql,
  target: Target,
  verdict: AttemptVerdict,
): Promise<AttemptKey> => {
  const key = await begin(sql, target)
  await complete(sql, key, verdict)
  return key
}

export const redeliver = async (sql: Sql, eventId: string): Promise<string> => {
  const begun = await sql.begin((sql) => insertRedelivery(sql, eventId))
  if (begun) return begun.id
  throw new Error('there was no receiver')
}

export interface SeenAttempt {
  number: number
  url: string
  address: string | null
  duration_ms: number | null
  status: number | null
  error_class: string | null
  answer: string | null
  next_due_at: Date | null
}

export const seeAttempts = async (sql: Sql, eventId: string): Promise<SeenAttempt[]> => [
  ...(await sql<SeenAttempt[]>`
    select number, url, address, duration_ms, status, error_class, answer, next_due_at
    from attempt where event_id = ${eventId} order by number
  `),
]
