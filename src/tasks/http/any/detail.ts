import { withinDeadline } from '../../../platform/db/client.ts'
import { findTaskDetail, type TaskDetailRow } from '../../db/task-detail.ts'
import { estimateKind } from '../../db/task-list.ts'
import { listWarnings } from '../../domain/image/warnings.ts'
import { originOf, withoutQuery } from '../../../platform/domain/address.ts'
import { errors } from '../../../platform/domain/errors.ts'
import type { TaskDetail } from '../../domain/task-item.ts'
import { ownerOf } from '../../../platform/http/access/caller.ts'
import type { JsonResponse, RouteRequest } from '../../../platform/http/route.ts'
import { readTaskId } from '../task/task-id.ts'
import { makeRequest, showInputs } from '../../request-of.ts'
import { showAttempts } from '../../show-attempts.ts'
import { toItem } from './item.ts'
import type { TaskReadDeps } from '../../deps.ts'
import type { LiveDeps } from '../../../platform/http/live/prefer.ts'

/** Dependencies of the routes of tasks of every kind. */
export interface AnyTaskDeps extends TaskReadDeps, LiveDeps {
  /** Address of a workflow in the Temporal UI; undefined where there is none. */
  workflowUrl(workflowId: string): string | undefined
}

/** Task or upload, and the name within it, of a signed link. */
const OWN_FILE = /\/files\/([\da-f-]{36})\/([^/?#]+)/

const withoutPath = (task: TaskDetailRow): TaskDetailRow => ({
  ...task,
  webhookUrl: task.webhookUrl && originOf(task.webhookUrl),
})

/** Reads a task with all that is known of its life. Throws 404. */
export const readDetail = async (
  deps: Omit<AnyTaskDeps, keyof LiveDeps>,
  { params, caller }: RouteRequest<{ task_id: string }>,
): Promise<JsonResponse> => {
  const { sql, signer, now, workflowUrl } = deps
  const id = readTaskId(params.task_id)
  const owner = ownerOf({ caller })
  const isAdmin = caller?.isPlatformAdmin ?? false
  const task = await withinDeadline(sql, findTaskDetail(sql, { id, owner, isAdmin }))
  if (!task) throw errors.taskNotFound(id)
  // Whoever holds a token for it need not know the secrets of its addresses, either.
  const isStranger = caller?.taskId !== undefined || (isAdmin && task.owner !== owner)
  const show = (url: string): string => (isStranger ? withoutQuery(url) : url)
  const sign = (name: string): string => signer.signFile(id, name, now())
  const renew = (link: string): string | undefined => {
    const [, of, name] = OWN_FILE.exec(link) ?? []
    return of && name && signer.signFile(of, decodeURIComponent(name), now())
  }
  const inputs = showInputs(task, { show, sign, renew: isStranger ? undefined : renew })
  const { ended_at: endedAt, family, kind } = task.item
  const warnings = listWarnings(task.warnings)
  const seconds = endedAt === undefined ? await withinDeadline(sql, estimateKind(sql, kind)) : null
  const temporal = isAdmin ? workflowUrl(`${family}-task/${id}`) : undefined
  const body: TaskDetail = {
    ...toItem(deps, task, isAdmin),
    request: makeRequest(isStranger ? withoutPath(task) : task, inputs, show),
    inputs,
    results: task.results.map((file) => ({ ...file, url: sign(file.name) })),
    moves: task.moves,
    attempts: showAttempts(task),
    ...(task.engineError !== null && { engine_error: task.engineError }),
    ...(task.queuePosition !== null && { queue_position: task.queuePosition }),
    ...(isAdmin && task.waitsFor?.length && { lacking: task.waitsFor }),
    ...(task.placedAt && { placed_at: task.placedAt.toISOString() }),
    ...(task.log && { log: task.log }),
    ...(task.template && { template: task.template }),
    ...(seconds !== null && { estimated_seconds: seconds }),
    ...(warnings.length > 0 && { warnings }),
    ...(task.purgeAt && !task.purgedAt && { purge_at: task.purgeAt.toISOString() }),
    ...(task.purgedAt && { purged_at: task.purgedAt.toISOString() }),
    ...(temporal !== undefined && { temporal_url: temporal }),
  }
  return { status: 200, body }
}
