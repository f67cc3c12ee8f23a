import { Type } from 'typebox'

import { withinDeadline } from '../../db/client.ts'
import { findSequence, readTaskChanges, type TaskChanges } from '../../db/event/event-log.ts'
import { listVersionSteps } from '../../db/registry/version-steps.ts'
import { getVersion } from '../../db/registry/version.ts'
import { describeWait } from '../../domain/task/waits-for.ts'
import { errors } from '../../domain/shared/errors.ts'
import { isUuid } from '../../domain/shared/uuid.ts'
import { ownerOf } from '../access/caller.ts'
import { readTask as readImageTask } from '../image-task/read.ts'
import { getVersionAccess } from '../registry/access.ts'
import type { RecordDeps } from '../registry/deps.ts'
import { OfVersion, VERSION_ERRORS, VERSION_PATH } from '../registry/paths.ts'
import { defineRoute } from '../route.ts'
import type { RouteResponse, ResponseSpec, Route, RouteRequest } from '../route.ts'
import { OfTask, readTaskId } from '../task/task-id.ts'
import type { TaskReadDeps } from '../../tasks/deps.ts'
import { readTask as readVideoTask } from '../video-task/read.ts'
import type { LiveDeps } from './prefer.ts'
import { respondWithStream, STREAM_IS_OVER, type ReadChanges, type StreamEvent } from './stream.ts'

export type StreamDeps = LiveDeps & TaskReadDeps & RecordDeps

/** The streams of what happens to a task and to a version, as server-sent events. */
export const makeStreamRoutes = (deps: StreamDeps): Route[] => [
  taskStream(deps),
  versionStream(deps),
]

const COMMON = { tag: 'Live progress', auth: 'optional', method: 'get' } as const

const RESPONSES: Record<number, ResponseSpec> = {
  200: {
    description:
      'Events as they happen. `state` and `progress` report changes; `end` is the last, and then the stream closes. A comment comes every 15 seconds.',
    schema: Type.String(),
    mediaType: 'text/event-stream',
  },
  204: {
    description: 'Last-Event-ID names the end: there is nothing more, and no reason to come back.',
  },
}

const taskStream = (deps: StreamDeps): Route =>
  defineRoute({
    ...COMMON,
    path: '/tasks/:task_id/stream',
    summary: 'Follow a task until its end',
    description:
      '`state`: `{status, sequence, created_at}` of each transition, whose `id` is that of the event that webhooks are sent; those before the stream began come first. `progress`: `{progress}` in percent, with `waits_for` while the task waits. `end`: the task as its status route returns it. With Last-Event-ID it goes on after that event.',
    params: OfTask,
    requestHeaders: ['Last-Event-ID'],
    responses: {
      ...RESPONSES,
      200: { ...(RESPONSES[200] as ResponseSpec), example: TASK_EXAMPLE },
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
  const followed = { id: task.taskId, read: readTaskStream(deps, { ...task, known, read }) }
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
): ReadChanges => {
  let after = known
  let sent = { progress: 0, wait: '' }
  return async () => {
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
}

const readEnd = (
  deps: StreamDeps,
  { family, ...task }: { id: string; owner: string; family: TaskChanges['family'] },
) =>
  family === 'video'
    ? readVideoTask(deps, { ...task, known: undefined })
    : readImageTask(deps, { ...task, known: undefined })

const versionStream = (deps: StreamDeps): Route =>
  defineRoute({
    ...COMMON,
    path: `${VERSION_PATH}/stream`,
    scopes: ['publish', 'read'],
    summary: 'Follow a version until it is decided on and its host nodes are read',
    description:
      '`state`: the version as it is now, first at once and then after each change; `steps`: `{steps: [{step, state, at?}]}` of `received`, `read`, `scanned`, `host_nodes` and `active`, each `waiting`, `running`, `done`, `failed` or `held`, before the state that has changed them; `end`: the version, once it is no longer Pending and `host_node_extract_status` is neither pending nor reported. With Last-Event-ID what the caller has is not sent again.',
    params: OfVersion,
    requestHeaders: ['Last-Event-ID'],
    responses: RESPONSES,
    errors: [...VERSION_ERRORS, 'streams_exceeded'],
    handler: (request) => streamVersion(deps, request),
  })

const streamVersion = async (
  deps: StreamDeps,
  request: RouteRequest<OfVersion>,
): Promise<RouteResponse> => {
  const { params, caller, headers } = request
  const find = async () => await getVersionAccess(deps, { ...params, access: 'read', caller })
  const { id, revision } = await find()
  let known = headers['last-event-id']
  let sent: string | undefined
  if (known === `${revision}-end`) return STREAM_IS_OVER
  const read: ReadChanges = async () => {
    const { id: idNow, revision, hasSettled } = await find()
    // An expired version is deleted, and its number is free again.
    if (idNow !== id) throw errors.versionNotFound(params.nodeId, params.version)
    if (revision === known && !hasSettled) return []
    const [version, steps] = await withinDeadline(
      deps.sql,
      Promise.all([getVersion(deps.sql, id, deps), listVersionSteps(deps.sql, id)]),
    )
    const before = sent
    known = revision
    sent = JSON.stringify(steps)
    return [
      ...(sent !== before ? [{ event: 'steps', data: { steps } } as const] : []),
      hasSettled
        ? { event: 'end', id: `${revision}-end`, data: version }
        : { event: 'state', id: revision, data: version },
    ]
  }
  return await respondWithStream(deps, request, { id, read })
}
