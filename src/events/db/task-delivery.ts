import type { Sql } from '../../platform/db/client.ts'
import { isDeliveryPaused } from '../../tasks/db/event-log.ts'
import type { Attempt } from '../domain/event.ts'

/** An event of a task that is sent to its webhook URL or to a subscription of its owner, and its last attempt. */
export interface TaskDelivery {
  id: string
  /** Status that the task moved to; of a subscription the type of the event. */
  status: string
  state: string
  /** Null where nobody is to get it any more. */
  url: string | null
  /** Null of the webhook URL of the task. */
  endpointId: string | null
  isPaused: boolean
  nextAttemptAt: Date | null
  attempts: number
  responseStatus: number | null
  errorClass: Attempt['error_class'] | null
  errorDetail: string | null
}

/** Lists the events of a task that are sent to anybody: first those to its webhook URL, each in their order. */
export const listTaskDeliveries = async (sql: Sql, taskId: string): Promise<TaskDelivery[]> =>
  await sql<TaskDelivery[]>`
  select e.id, e.status, e.state, w.url, e.endpoint_id as "endpointId",
    ${isDeliveryPaused(sql)} as "isPaused",
    coalesce(d.next_attempt_at, e.next_attempt_at) as "nextAttemptAt",
    coalesce(a.number, 0) as attempts, a.status as "responseStatus", a.error_class as "errorClass",
    a.error_detail as "errorDetail"
  from event e
  join event_webhook w on w.id = e.id
  left join redelivery d on d.event_id = e.id and d.state = 'pending'
  left join lateral (
    select number, status, error_class, error_detail from attempt
    where event_id = e.id order by number desc limit 1
  ) a on true
  where e.state <> 'unsent' and e.task_id = any(array[${taskId}::uuid] || array(
    -- the chain of each subscription, see insertEventsOf
    select chain_of(p.id, t.id) from task t
    join endpoint p on p.owner = t.owner and p.status <> 'deleted'
    where t.id = ${taskId}))
  order by e.endpoint_id nulls first, e.sequence
`
