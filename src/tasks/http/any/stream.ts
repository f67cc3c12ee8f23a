import { randomUUID } from 'node:crypto'

import { withinDeadline } from '../../../platform/db/client.ts'
import {
  listRevisions,
  listTaskRows,
  listTasks,
  MAX_FOLLOWED,
  readTaskQuery,
} from '../../db/task-list.ts'
import type { TaskRow } from '../../db/task-list.ts'
import { errors } from '../../../platform/domain/errors.ts'
import { OPEN_STATES, type TaskStreamQuery } from '../../domain/task-item.ts'
import type { OwnTasks } from '../../../platform/domain/task-scope.ts'
import { tasksOf } from '../../../platform/http/access/caller.ts'
import {
  respondWithStream,
  type ReadChanges,
  type StreamEvent,
} from '../../../platform/http/live/stream.ts'
import type { RouteResponse, RouteRequest } from '../../../platform/http/route.ts'
import { toItem } from './item.ts'
import type { TaskReadDeps } from '../../deps.ts'
import type { LiveDeps } from '../../../platform/http/live/prefer.ts'

/** A task is reported twice a second at most; new ones are polled for. */
const PACE = { leastMs: 500, maxMs: 2000 }

/** A transition is stamped before it can be seen. What is sent twice has the same revision. */
const UNSEEN_MS = 10_000

/** Follows all tasks of the caller. Throws 400 for a Last-Event-ID that no such stream gave. */
export const streamTasks = async (
  deps: TaskReadDeps & LiveDeps,
  request: RouteRequest<unknown, TaskStreamQuery>,
): Promise<RouteResponse> => {
  const lastEventId = request.headers['last-event-id'] || undefined
  if (lastEventId !== undefined && !/^\d{1,15}$/.test(String(lastEventId)))
    throw errors.lastEventInvalid(String(lastEventId), 'an id that this stream gave, a number')
  const since = lastEventId === undefined ? undefined : Number(lastEventId)
  const open = new Set<string>()
  const filter = { ...readTaskQuery(request.query), ...tasksOf(request) }
  const read = readTasks(deps, { filter, since, open })
  return await respondWithStream(deps, request, {
    id: randomUUID(),
    read,
    many: { ids: open, ...PACE },
  })
}

interface FollowedTasks {
  filter: ReturnType<typeof readTaskQuery> & OwnTasks
  /** Time up to which the client has all changes, in milliseconds. */
  since: number | undefined
  /** Ids of tasks that have not ended, kept up to date. */
  open: Set<string>
}

const readTasks = (deps: TaskReadDeps, { filter, since, open }: FollowedTasks): ReadChanges => {
  const { sql } = deps
  const { owner, families } = filter
  let sent: ReadonlyMap<string, number> | undefined
  let lastMs = since ?? 0
  const find = async () => {
    const isFirst = sent === undefined
    if (isFirst) {
      const isOpen = { states: OPEN_STATES, limit: MAX_FOLLOWED }
      const { rows } = await listTasks(sql, { ...filter, ...isOpen })
      for (const { id } of rows) open.add(id)
    }
    const from = isFirst && since !== undefined ? new Date(since - UNSEEN_MS) : undefined
    const revisions = await listRevisions(sql, { owner, families, ids: [...open], since: from })
    const changed = revisions.filter(({ id, rev }) => sent?.get(id) !== rev)
    const rows = await listTaskRows(sql, { ...filter, ids: changed.map(({ id }) => id) })
    const isNotified = ({ id, movedAt }: TaskRow): boolean =>
      !isFirst || open.has(id) || (from !== undefined && movedAt >= from)
    return { revisions, rows: rows.filter(isNotified) }
  }
  return async () => {
    const { revisions, rows } = await withinDeadline(sql, find())
    sent = new Map(revisions.map(({ id, rev }) => [id, rev]))
    return rows.map((row): StreamEvent => {
      if (row.item.ended_at === undefined) open.add(row.id)
      else open.delete(row.id)
      lastMs = Math.max(lastMs, row.movedAt.getTime())
      return { event: 'task', id: String(lastMs), data: toItem(deps, row) }
    })
  }
}
