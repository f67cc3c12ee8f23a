import { withinDeadline } from '../../../platform/db/client.ts'
import {
  listOwnerEvents,
  listTasks as findTasks,
  readTaskQuery,
  summariseTasks,
} from '../../db/task-list.ts'
import type { OwnerEventQuery, TaskQuery } from '../../domain/task-item.ts'
import type { OwnTasks, TaskScope } from '../../../platform/domain/task-scope.ts'
import type { JsonResponse } from '../../../platform/http/route.ts'
import { makePageToken, parsePageToken } from '../task/page-token.ts'
import { toItem } from './item.ts'
import type { TaskReadDeps } from '../../deps.ts'
import type { ReadDeps } from '../../../platform/http/deps.ts'

/** Lists a page of tasks. The query is valid. Without an owner it lists all owners' tasks, and says whose each is. */
export const listTasks = async (
  deps: TaskReadDeps,
  { after, limit, ...query }: TaskQuery,
  { isAdmin = false, ...scope }: TaskScope & { isAdmin?: boolean },
): Promise<JsonResponse> => {
  const found = findTasks(deps.sql, {
    ...readTaskQuery(query),
    ...scope,
    after: placeOf(after),
    limit,
  })
  const { rows, next } = await withinDeadline(deps.sql, found)
  const tasks = rows.map((row) => toItem(deps, row, isAdmin))
  return { status: 200, body: { tasks, ...(next && { next: makePageToken(next) }) } }
}

export const summarise = async ({ sql }: ReadDeps, scope: OwnTasks): Promise<JsonResponse> => ({
  status: 200,
  body: await withinDeadline(sql, summariseTasks(sql, scope)),
})

/** Lists a page of the events of an owner's tasks. */
export const listEvents = async (
  { sql }: ReadDeps,
  scope: OwnTasks,
  { state, after, limit, ...query }: OwnerEventQuery,
): Promise<JsonResponse> => {
  const filter = { ...readTaskQuery(query), ...scope, states: state, after: placeOf(after), limit }
  const { rows, next } = await withinDeadline(sql, listOwnerEvents(sql, filter))
  return { status: 200, body: { events: rows, ...(next && { next: makePageToken(next) }) } }
}

export const placeOf = (after: string | undefined) =>
  after === undefined ? undefined : parsePageToken(after)
