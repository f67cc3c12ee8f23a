import { Type } from 'typebox'

import { withinDeadline } from '../../../platform/db/client.ts'
import { findSequence, readTaskChanges, type TaskChanges } from '../../db/event-log.ts'
import { errors } from '../../../platform/domain/errors.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import { describeWait } from '../../domain/waits-for.ts'
import type { TaskReadDeps } from '../../deps.ts'
import { ownerOf } from '../../../platform/http/access/caller.ts'
import { readTask as readImageTask } from '../image/read.ts'
import type { LiveDeps } from '../../../platform/http/live/prefer.ts'
import {
  respondWithStream,
  STREAM_IS_OVER,
  STREAM_RESPONSES,
} from '../../../platform/http/live/stream.ts'
import type { ReadChanges, StreamEvent } from '../../../platform/http/live/stream.ts'
import { defineRoute } from '../../../platform/http/route.ts'
import type { RouteResponse, Route, RouteRequest } from '../../../platform/http/route.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'
import { readTask as readVideoTask } from '../video/read.ts'

type StreamDeps = LiveDeps & TaskReadDeps

/** Makes the stream of what happens to a task, as server-sent events. */
export const makeTaskStreamRoute = (deps: StreamDeps): Route =>
  defineRoute({
    tag: 'Live progress',
    auth: 'optional',
    method: 'get',
    path: '/tasks/:task_id/stream',
    summary: 'Follow a task until its end',
    description:
      '`state`: `{status, sequence, created_at}` of each transition, whose `id` is that of the event that webhooks are sent; those before the stream began come first. `progress`: `{progress}` in percent, with `waits_for` while the task waits. `preview`: `{image}`, a small picture of what is being made as a data: URI, where the engine gives one; at most one a second, and none is kept. `end`: the task as its status route returns it. With Last-Event-ID it goes on after that event.',
    takesTaskTokens: 'in-query',
    params: OfTask,
    query: Type.Object({
      token: Type.Optional(
        Type.String({
          description: 'A token for this task, where there is no Authorization, as of EventSource.',
        }),
      ),
    }),
    requestHeaders: ['Last-Event-ID'],
    responses: {
      ...STREAM_RESPONSES,
      200: { ...STREAM_RESPONSES[200], example: TASK_EXAMPLE },
    },
    errors: ['task_not_found', 'streams_exceeded', 'validation_failed'],
    handler: (request) => streamTask(deps, request),
  })

const TASK_EXAMPLE = `id: 6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21
event: state
data: {"status":"IN_PROGRESS","sequence":2,"created_at":"2026-01-01T00:00:01.000Z"}

`

const streamTask = async (
  deps: StreamDeps,
  request: RouteRequest<{ task_id: string }>,
): Promise<RouteResponse> => {
  const task = { taskId: readTaskId(request.params.task_id), owner: ownerOf(request) }
  const lastEventId = request.headers['last-event-id'] || undefined
  const read = async (after: number): Promise<TaskChanges> => {
    const notifyChange = await withinDeadline(
      deps.sql,
      readTaskChanges(deps.sql, { ...task, after }),
    )
    if (!notifyChange) throw errors.taskNotFound(task.taskId)
    return notifyChange
  }
  const known = await findKnown(deps, task.taskId, String(lastEventId ?? ''))
  if (lastEventId !== undefined) {
    const { hasEnded, moves: transitions } = await read(known ?? 0)
    if (known === undefined) throw errors.lastEventInvalid(String(lastEventId))
    if (hasEnded && transitions.length === 0) return STREAM_IS_OVER
  }
  const followed = { id: task.taskId, ...readTaskStream(deps, { ...task, known, read }) }
  return await respondWithStream(deps, request, followed)
}

const findKnown = async (
  { sql }: StreamDeps,
  taskId: string,
  eventId: string,
): Promise<number | undefined> =>
  isUuid(eventId) ? await withinDeadline(sql, findSequence(sql, { taskId, eventId })) : undefined

interface FollowedTask {
  taskId: string
  owner: string
  /** Sequence of the event that the client knows. */
  known: number | undefined
  read(after: number): Promise<TaskChanges>
}

const readTaskStream = (
  deps: StreamDeps,
  { taskId, owner, known = 0, read }: FollowedTask,
): { read: ReadChanges; changesByTime(): boolean } => {
  let after = known
  let sent = { progress: 0, wait: '' }
  const readChanges = async () => {
    const { family, moves: transitions, progress, waitsFor, hasEnded } = await read(after)
    const wait = describeWait(waitsFor)
    const { waits_for: sentence = '' } = wait
    const end = hasEnded ? await readEnd(deps, { id: taskId, owner, family }) : undefined
    const events: StreamEvent[] = transitions.map(({ id, ...data }) => ({
      event: 'state',
      id,
      data,
    }))
    if (end) events.push({ event: 'end', data: end.body })
    else if (progress > sent.progress || sentence !== sent.wait)
      events.push({ event: 'progress', data: { progress, ...wait } })
    after = transitions.at(-1)?.sequence ?? after
    sent = { progress, wait: sentence }
    return events
  }
  // Why a task waits changes with time and workers, and no change of its row says so.
  return { read: readChanges, changesByTime: () => sent.progress === 0 || sent.wait !== '' }
}

const readEnd = (
  deps: StreamDeps,
  { family, ...task }: { id: string; owner: string; family: TaskChanges['family'] },
) =>
  family === 'video'
    ? readVideoTask(deps, { ...task, known: undefined })
    : readImageTask(deps, { ...task, known: undefined })
