import { withinDeadline } from '../../db/client.ts'
import { withoutQuery } from '../../db/event/attempt.ts'
import { findTaskDetail } from '../../db/task/task-detail.ts'
import type { TaskDetailRow } from '../../db/task/task-detail.ts'
import { estimateKind } from '../../db/task/task-list.ts'
import { IMAGE_KINDS, IMAGE_PREFIX } from '../../domain/image-task/image-kind.ts'
import type { ImageTaskKind } from '../../domain/image-task/image-kind.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { TaskDetail } from '../../domain/task/task-item.ts'
import { END_IMAGE } from '../../domain/video-task/end-image.ts'
import { ownerOf } from '../access/caller.ts'
import type { JsonAnswer, RouteRequest } from '../route.ts'
import type { TaskDeps } from '../task/deps.ts'
import { readTaskId } from '../task/task-id.ts'
import { VIDEO_PREFIX } from '../video-task/video-path.ts'
import { toItem } from './item.ts'

export interface DetailDeps extends TaskDeps {
  /** Address of a workflow in the Temporal UI; undefined where there is none. */
  workflowUrl(workflowId: string): string | undefined
}

/** Answers a task with all that is known of its life. Throws 404. */
export const readDetail = async (
  deps: DetailDeps,
  { params, caller }: RouteRequest<{ task_id: string }>,
): Promise<JsonAnswer> => {
  const { sql, signer, now, workflowUrl } = deps
  const id = readTaskId(params.task_id)
  const owner = ownerOf({ caller })
  const isAdmin = caller?.isPlatformAdmin ?? false
  const task = await withinDeadline(sql, findTaskDetail(sql, { id, owner, isAdmin }))
  if (!task) throw errors.taskNotFound(id)
  const isOwn = task.owner === owner
  const show = (url: string): string => (isOwn || !isAdmin ? url : withoutQuery(url))
  const sign = (name: string): string => signer.signFile(id, name, now())
  const inputs = task.inputs.map(({ field, name, url, ...file }) => ({
    field,
    url: name === null ? show(url ?? '') : sign(name),
    ...present(file),
  }))
  const estimate =
    task.endedAt === null ? await withinDeadline(sql, estimateKind(sql, task.kind)) : null
  const temporal = isAdmin ? workflowUrl(`${task.family}-task/${id}`) : undefined
  const body: TaskDetail = {
    ...toItem(deps, task, isAdmin),
    request: makeRequest(task, inputs, show),
    inputs,
    results: task.results.map(({ name, ...file }) => ({
      name,
      url: sign(name),
      ...present(file),
    })),
    moves: task.moves.map(({ at, ...move }) => ({
      ...(move as Omit<TaskDetail['moves'][number], 'at'>),
      at: new Date(at).toISOString(),
    })),
    attempts: task.tries.map((_, index) => toAttempt(task, index)),
    ...(estimate !== null && { estimated_seconds: estimate }),
    ...(task.purgedAt && { purged_at: task.purgedAt.toISOString() }),
    ...(temporal !== undefined && { temporal_url: temporal }),
  }
  return { status: 200, body }
}

/** The members that have a value. */
const present = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

/** What it takes to make the same again. What it was sent as, a link or Base64, is an address now. */
const makeRequest = (
  { family, kind, settings, webhookUrl }: TaskDetailRow,
  inputs: TaskDetail['inputs'],
  show: (url: string) => string,
): TaskDetail['request'] => {
  const urls = Object.fromEntries(inputs.map(({ field, url }) => [field, url]))
  const told = webhookUrl === null ? undefined : show(webhookUrl)
  const given = Object.entries(present(settings)).map(([name, value]) => [
    name,
    typeof value === 'string' && /^https?:/i.test(value) ? show(value) : value,
  ])
  const body = Object.fromEntries(given) as Record<string, unknown>
  if (family === 'image')
    return {
      path: `${IMAGE_PREFIX}${IMAGE_KINDS[kind as ImageTaskKind].path}`,
      body: { ...urls, ...body, ...(told && { webhook_url: told }) },
    }
  const images = [urls['images'], urls[END_IMAGE]].filter((url) => url !== undefined)
  return {
    path: `${VIDEO_PREFIX}/${images.length > 1 ? 'start-end2video' : kind}`,
    body: { ...body, ...(images.length > 0 && { images }), ...(told && { callback_url: told }) },
  }
}

/** What is known of a try: its end is that of the task, or its own failure. */
const toAttempt = (
  { tries, endedAt, state, error }: TaskDetailRow,
  index: number,
): TaskDetail['attempts'][number] => {
  const {
    n: number,
    at,
    failed_at: failedAt,
    error: code,
  } = tries[index] as TaskDetailRow['tries'][number]
  const begun = { number, started_at: new Date(at).toISOString() }
  if (failedAt !== undefined)
    return {
      ...begun,
      ended_at: new Date(failedAt).toISOString(),
      outcome: 'failed',
      ...(code !== undefined && { error: code }),
    }
  if (index < tries.length - 1) return { ...begun, outcome: 'lost' }
  if (endedAt === null) return { ...begun, outcome: 'running' }
  const outcome = state === 'done' ? 'done' : state === 'failed' ? 'failed' : 'lost'
  return {
    ...begun,
    ended_at: endedAt.toISOString(),
    outcome,
    ...(outcome === 'failed' && error && { error: error.code }),
  }
}
