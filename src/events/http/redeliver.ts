import { hostOf } from '../../platform/outbound/url.ts'
import { withinDeadline, type Transaction } from '../../platform/db/client.ts'
import { existsEvent, listEvents } from '../../tasks/db/event-log.ts'
import { insertRedelivery } from '../db/redelivery.ts'
import type { BegunRedelivery, RedeliveryStarts } from '../db/redelivery.ts'
import { countRedelivery, type RedeliveryLimits } from '../db/redelivery-limit.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { errors } from '../../platform/domain/errors.ts'
import { isUuid } from '../../platform/domain/uuid.ts'
import { redeliveryOptions, startRedelivery } from '../temporal/start-delivery.ts'
import { ANONYMOUS } from '../../platform/domain/account.ts'
import { ownerOf } from '../../platform/http/access/caller.ts'
import type { RouteRequest, SavedResponse } from '../../platform/http/route.ts'
import { readTaskId } from '../../tasks/http/task/task-id.ts'
import type { CommitDeps, ReadDeps } from '../../platform/http/deps.ts'

export interface RedeliveryDeps extends CommitDeps {
  taskQueue: string
  redeliveryLimits: RedeliveryLimits
}

type EventRequest = RouteRequest<{ task_id: string; event_id: string }>

/** The id of an event that the caller may read, from the path. Throws 404 for the task or for the event. */
export const getEventId = async (
  { sql }: ReadDeps,
  request: Pick<EventRequest, 'params' | 'caller'>,
): Promise<string> => {
  const { task_id, event_id: eventId } = request.params
  const task = { taskId: readTaskId(task_id), owner: ownerOf(request) }
  if (isUuid(eventId) && (await withinDeadline(sql, existsEvent(sql, { ...task, eventId }))))
    return eventId.toLowerCase()
  if (!(await withinDeadline(sql, listEvents(sql, task)))) throw errors.taskNotFound(task_id)
  throw errors.eventNotFound(eventId)
}

/**
 * Begins to send one event again. While that is under way, a repetition gets the same id. Throws 409 for a task
 * without a webhook and for an event that is for the log only, and 429 when an anonymous task has sent the event, or to
 * the host, as often as it may.
 */
export const redeliverOne = async (
  deps: RedeliveryDeps,
  request: Pick<RouteRequest, 'caller' | 'saveIdempotentResponse'>,
  eventId: string,
): Promise<SavedResponse> => {
  return await unitOfWork(deps, async (sql, enqueue) => {
    const redelivery = await insertRedelivery(sql, eventId)
    if (!redelivery) throw errors.notDeliverable()
    if (redelivery.isNew && redelivery.owner === ANONYMOUS)
      await validateCount(deps, sql, redelivery)
    const facts = { redeliveryId: redelivery.id, owner: ownerOf(request) }
    if (redelivery.isNew) await enqueue(startRedelivery(facts, deps))
    const response = { status: 202, body: { redelivery_id: redelivery.id } }
    return await request.saveIdempotentResponse(sql, response)
  })
}

const validateCount = async (
  { redeliveryLimits }: Pick<RedeliveryDeps, 'redeliveryLimits'>,
  sql: Transaction,
  { id, url }: BegunRedelivery,
): Promise<void> => {
  const over = await countRedelivery(sql, { id, host: hostOf(new URL(url)) }, redeliveryLimits)
  if (over?.of === 'event') throw errors.eventRedeliveryLimit(redeliveryLimits.perEvent)
  if (over) throw errors.hostRedeliveryLimit(redeliveryLimits.perHost, over.seconds)
}

/** Begins to send events again, all that `redeliver` finds; the relay starts them. */
export const redeliverAll = (
  deps: RedeliveryDeps,
  request: Pick<RouteRequest, 'saveIdempotentResponse'>,
  owner: string,
  redeliver: (sql: Transaction, starts: RedeliveryStarts) => Promise<number>,
): Promise<SavedResponse> =>
  unitOfWork(deps, async (sql) => {
    const starts = { taskQueue: deps.taskQueue, options: redeliveryOptions(owner) }
    const response = { status: 202, body: { redeliveries: await redeliver(sql, starts) } }
    return await request.saveIdempotentResponse(sql, response)
  })
