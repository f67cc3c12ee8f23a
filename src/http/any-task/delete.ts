import { Type } from 'typebox'

import { insertAudit, type Audit } from '../../db/registry/audit-log.ts'
import { lockTask, purgeDeleted, requestDeletion } from '../../db/task/task-deletion.ts'
import type { DeletedTask } from '../../db/task/task-deletion.ts'
import type { Transaction } from '../../db/client.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import type { Enqueue } from '../../db/unit-of-work.ts'
import { stopTaskEvents } from '../../db/event/attempt.ts'
import { transitionImageTask } from '../../db/image-task/image-task.ts'
import { cancelVideoTask } from '../../db/video-task/video-task.ts'
import type { Slots } from '../../db/video-task/video-queue.ts'
import { auditTarget } from '../../domain/registry/audit-log.ts'
import { errors } from '../../domain/shared/errors.ts'
import { TASK_ERRORS } from '../../domain/task/task-error.ts'
import { signalStopped } from '../../jobs/event.ts'
import { signalCancel } from '../../jobs/task.ts'
import { auditOf } from '../access/audit.ts'
import { ownerOf } from '../access/caller.ts'
import type { CommitDeps } from '../deps.ts'
import type { JsonResponse, RouteRequest } from '../route.ts'
import type { InputDeps } from '../task/deps.ts'
import { readTaskId } from '../task/task-id.ts'

export type DeletionDeps = CommitDeps & Slots & Pick<InputDeps, 'storage'>

export const DeletionQuery = Type.Object({
  when: Type.Optional(
    Type.Enum(['now', 'ended'], {
      description:
        '`ended`: a video that is being rendered is deleted at its end. Otherwise that is a 400, because it can no longer be cancelled.',
    }),
  ),
})

type DeletionRequest = RouteRequest<{ task_id: string }, { when?: 'now' | 'ended' }>

/**
 * Deletes a task: cancels it if it has not ended, notifies its webhook URL no more, and removes inputs, results,
 * thumbnails and payload. The row stays, without content. Throws 404, or 400 when a video can no longer be cancelled.
 */
export const deleteTask = async (
  deps: DeletionDeps,
  request: DeletionRequest,
): Promise<JsonResponse> => {
  const { params, query, caller } = request
  const id = readTaskId(params.task_id)
  const audit = auditOf(request)
  const hasEnded = await unitOfWork(deps, (sql, enqueue) =>
    deleteLocked(deps, { sql, enqueue, id, owner: ownerOf({ caller }), when: query.when, audit }),
  )
  if (!hasEnded) return { status: 202 }
  // When it cannot be done now, the hourly purge does it. The links have ended already.
  await purgeDeleted(deps, id).catch(() => {})
  return { status: 204 }
}

interface InUnit {
  id: string
  sql: Transaction
  enqueue: Enqueue
}

interface DeleteOptions {
  owner: string
  when?: 'now' | 'ended' | undefined
  /** Caller for the audit log; absent: an operation, which is in the log itself. */
  audit?: Audit
}

/** Deletes a task in a unit of work; true when it has ended, so that its files can go. Throws as `deleteTask` does. */
export const deleteLocked = async (
  deps: CommitDeps & Slots,
  { owner, when, audit, ...unit }: InUnit & DeleteOptions,
): Promise<boolean> => {
  const { id, sql, enqueue } = unit
  const task = await lockTask(sql, { id, owner })
  if (!task) throw errors.taskNotFound(id)
  const hasEnded = task.hasEnded || (await cancelLocked(deps, { ...unit, task }))
  if (!hasEnded && when !== 'ended')
    throw errors.cannotCancelVideo(task.status, '; with ?when=ended it is deleted at its end')
  if (!(await requestDeletion(sql, id))) return hasEnded
  const [target, before] = [auditTarget.task(id), { status: task.status }]
  if (audit) await insertAudit(sql, audit, { action: 'task.delete', target, before })
  if (!task.hasWebhook) return hasEnded
  const redeliveries = await stopTaskEvents(sql, id)
  for (const signal of signalStopped(id, redeliveries)) await enqueue(signal)
  return hasEnded
}

/** Cancels a task, which the transaction has locked; false when it is too late. */
export const cancelLocked = async (
  deps: CommitDeps & Slots,
  { id, task: { family }, sql, enqueue }: InUnit & { task: DeletedTask },
): Promise<boolean> => {
  const error = { code: 'cancelled', message: TASK_ERRORS.cancelled } as const
  const isCancelled =
    family === 'image'
      ? await transitionImageTask(sql, { id, to: 'FAILED', error })
      : await cancelVideoTask(sql, id, { ...deps, enqueue })
  if (isCancelled) await enqueue(signalCancel(family, id))
  return isCancelled
}
