import { withoutQuery } from '../../platform/domain/address.ts'
import type { SentEvent, TaskEvents } from '../domain/task-event.ts'
import { PAUSED_EVENT } from '../domain/waits-for.ts'
import type { Queryable, Sql } from '../../platform/db/client.ts'
import { mayRead } from './filter.ts'
import { instant } from '../../platform/db/instant.ts'
import { isHostPaused } from './pause.ts'
import { waitsFor } from './task-file.ts'

/** The events of a task that the owner may read, in the order of their sequence; undefined when there is no such task. */
export const listEvents = async (
  sql: Sql,
  { taskId, owner }: { taskId: string; owner: string },
): Promise<TaskEvents | undefined> => {
  const rows = await sql<(Omit<SentEvent, keyof SentTimes> & SentTimes & { url: string | null })[]>`
    select e.id, e.sequence, e.status, e.created_at, e.state, t.webhook_url as url,
      coalesce(d.next_attempt_at, e.next_attempt_at) as next_attempt_at,
      (select count(*)::integer from attempt a where a.event_id = e.id) as attempts,
      ${isDeliveryPaused(sql)} as "isPaused", ${subscriptionsOf(sql)} as subscriptions
    from task t
    join event e on e.task_id = t.id
    left join redelivery d on d.event_id = e.id and d.state = 'pending'
    where t.id = ${taskId} and ${mayRead(sql, owner)}
    order by e.sequence
  `
  // Every task has its first event.
  const [first] = rows
  if (!first) return undefined
  return {
    ...(first.url !== null && { webhook_url: withoutQuery(first.url) }),
    events: rows.map(({ url: _url, ...event }) => showSent(event)),
  }
}

/** True of event `e`, with a redelivery `d` that is pending, while it waits because the host of its webhook URL is paused. */
export const isDeliveryPaused = (sql: Queryable) => sql`
  ((e.state = 'pending' or d.id is not null) and exists (
    select from event_webhook o where o.id = e.id and ${isHostPaused(sql, sql`host_of(o.url)`)}
  ))
`

/** Converts the times of an event, and why it waits, to the form of a response. */
export const showEvent = <Row extends EventTimes>({
  created_at: at,
  next_attempt_at: next,
  isPaused,
  ...event
}: Row) => ({
  ...event,
  created_at: at.toISOString(),
  ...(next && { next_attempt_at: next.toISOString() }),
  ...(isPaused && { waits_for: PAUSED_EVENT }),
})

/** Deliveries `s` of event `e` of `task t` to subscriptions of its owner: they have its number, see insertEventsOf. */
const sentToSubscriptions = (sql: Queryable) => sql`
  endpoint p join event s on s.task_id = chain_of(p.id, t.id) and s.sequence = e.sequence
  where p.owner = t.owner and p.status <> 'deleted'
`

/** These deliveries as an array, in the order in which the subscriptions were made; null without any. */
export const subscriptionsOf = (sql: Queryable) => sql`(
  select jsonb_agg(jsonb_build_object('endpoint_id', s.endpoint_id) || d.delivery order by s.created)
  from (select s.*, p.created_at as created from ${sentToSubscriptions(sql)}) s
  cross join lateral (
    select jsonb_strip_nulls(jsonb_build_object('id', e.id, 'state', e.state,
      'attempts', (select count(*) from attempt a where a.event_id = e.id),
      'next_attempt_at', ${instant(sql, sql`coalesce(d.next_attempt_at, e.next_attempt_at)`)},
      'waits_for', case when ${isDeliveryPaused(sql)} then ${PAUSED_EVENT}::text end)) as delivery
    from (select s.id, s.state, s.next_attempt_at) e
    left join redelivery d on d.event_id = e.id and d.state = 'pending'
  ) d
)`

/** The condition that event `e` of `task t`, or one of these deliveries, is in one of some states. */
export const hasDeliveryIn = (sql: Queryable, states: readonly string[]) => sql`
  (e.state = any(${[...states]}) or exists (
    select from ${sentToSubscriptions(sql)} and s.state = any(${[...states]})
  ))
`

export interface SentTimes extends EventTimes {
  subscriptions: SentEvent['subscriptions'] | null
}

/** Converts an event with its deliveries to subscriptions. */
export const showSent = <Row extends SentTimes>({ subscriptions, ...event }: Row) => ({
  ...showEvent(event),
  ...(subscriptions && { subscriptions }),
})

export interface EventTimes {
  created_at: Date
  next_attempt_at: Date | null
  isPaused: boolean
}

/** Changes of a task for a watcher: where it is now, and the transitions after the one that the watcher knows. */
export interface TaskChanges {
  family: 'image' | 'video'
  progress: number
  /** Reasons of machines that do not take it; null unless it waits for one. */
  waitsFor: string[] | null
  hasEnded: boolean
  moves: { id: string; sequence: number; status: string; created_at: string }[]
}

/** Reads the changes of a task that the owner may read; undefined when there is no such task. */
export const readTaskChanges = async (
  sql: Sql,
  { taskId, owner, after }: { taskId: string; owner: string; after: number },
): Promise<TaskChanges | undefined> => {
  const [row] = await sql<(Omit<TaskChanges, 'moves'> & { moves: TaskChanges['moves'] | null })[]>`
    select t.family, t.progress, ${waitsFor(sql)} as "waitsFor", t.ended_at is not null as "hasEnded",
      (select json_agg(json_build_object('id', e.id, 'sequence', e.sequence, 'status', e.status,
          'created_at', e.created_at) order by e.sequence)
        from event e where e.task_id = t.id and e.sequence > ${after}) as moves
    from task t where t.id = ${taskId} and ${mayRead(sql, owner)}
  `
  if (!row) return undefined
  const transitions = row.moves ?? []
  return {
    ...row,
    moves: transitions.map((transition) => ({
      ...transition,
      created_at: new Date(transition.created_at).toISOString(),
    })),
  }
}

/** Finds the place of an event among its task's events; undefined when the task has no such event. */
export const findSequence = async (
  sql: Sql,
  { taskId, eventId }: { taskId: string; eventId: string },
): Promise<number | undefined> => {
  const [row] = await sql<{ sequence: number }[]>`
    select sequence from event where id = ${eventId} and task_id = ${taskId}
  `
  return row?.sequence
}

export interface EventOfTask {
  taskId: string
  eventId: string
  owner: string
}

export const existsEvent = async (
  sql: Queryable,
  { taskId, eventId, owner }: EventOfTask,
): Promise<boolean> => {
  const [row] = await sql`
    select from event e join task t on t.id = e.task_id
    where e.id = ${eventId} and t.id = ${taskId} and ${mayRead(sql, owner)}
  `
  return row !== undefined
}

export const isExhausted = (sql: Queryable) =>
  sql`e.state = 'exhausted' and t.webhook_url is not null`
export const isIdle = (sql: Queryable) =>
  sql`not exists (select from redelivery d where d.event_id = e.id and d.state = 'pending')`

/** The condition that event `e` of `task t` can be sent again. */
export const isMissed = (sql: Queryable) => sql`${isExhausted(sql)} and ${isIdle(sql)}`
