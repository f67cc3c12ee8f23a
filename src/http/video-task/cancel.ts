import { signalCancel } from '../../jobs/task.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { insertAudit, type Audit } from '../../db/registry/audit-log.ts'
import { cancelVideoTask, findVideoTask } from '../../db/video-task/video-task.ts'
import { auditTarget } from '../../domain/registry/audit-log.ts'
import { errors } from '../../domain/shared/errors.ts'
import { makeIssue, type Issue } from '../../domain/shared/validate.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../route.ts'
import type { Slots } from '../../db/video-task/video-queue.ts'
import type { CommitDeps } from '../deps.ts'

interface CancelRequest {
  id: string
  owner: string
  audit: Audit
  saveIdempotentResponse: RouteRequest['saveIdempotentResponse']
}

/** The id in a body, when there is one, is that of the path. */
export const validateCancel: NonNullable<Route['validate']> = ({ params, body: { id } }): Issue[] =>
  typeof id !== 'string' || id.toLowerCase() === String(params['task_id']).toLowerCase()
    ? []
    : [makeIssue('/id', 'must be the id in the path, got another one')]

/**
 * Ends a task that no worker has taken yet, refunds its credits and passes its slot on. Throws 404, or 400 when it is
 * too late.
 */
export const cancelTask = async (
  deps: CommitDeps & Slots,
  { id, owner, audit, saveIdempotentResponse }: CancelRequest,
): Promise<SavedResponse> => {
  const response: JsonResponse = { status: 200, body: {} }
  return await unitOfWork(
    deps,
    async (sql, enqueue) => {
      const task = await findVideoTask(sql, { id, owner })
      if (!task) throw errors.taskNotFound(id)
      // The move that came first may have been made after the task was read.
      if (!(await cancelVideoTask(sql, id, { ...deps, enqueue })))
        throw errors.cannotCancelVideo((await findVideoTask(sql, { id, owner }))?.state ?? 'gone')
      await insertAudit(sql, audit, {
        action: 'task.cancel',
        target: auditTarget.task(id),
        before: { status: task.state },
        after: { status: 'failed' },
      })
      await enqueue(signalCancel('video', id))
      return await saveIdempotentResponse(sql, response)
    },
    {
      of: id,
      wasCommitted: async () =>
        (await findVideoTask(deps.sql, { id, owner }))?.error?.code === 'UserCancelled',
    },
  )
}
