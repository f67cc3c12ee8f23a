import { signalCancel } from '../../jobs/task.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import type { Transaction } from '../../db/client.ts'
import { insertAudit, type Audit } from '../../db/registry/audit-log.ts'
import { findImageTask, transitionImageTask } from '../../db/image-task/image-task.ts'
import { auditTarget } from '../../domain/registry/audit-log.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { AnyImageKind } from '../../domain/image-task/image-kind.ts'
import { TASK_ERRORS } from '../../domain/task/task-error.ts'
import type { JsonResponse, RouteRequest, SavedResponse } from '../route.ts'
import type { CommitDeps } from '../deps.ts'

interface CancelRequest {
  id: string
  owner: string
  kinds: readonly AnyImageKind[]
  audit: Audit
  saveIdempotentResponse: RouteRequest['saveIdempotentResponse']
}

/** The move that came first may have been made after the task was read. */
const statusNow = async (
  sql: Transaction,
  task: Pick<CancelRequest, 'id' | 'owner' | 'kinds'>,
): Promise<string> => (await findImageTask(sql, task))?.status ?? 'gone'

const ERROR = { code: 'cancelled', message: TASK_ERRORS.cancelled }

/** Moves a task of the owner to FAILED and lets its workflow know. Throws 404, or 409 when the task has already ended. */
export const cancelTask = async (
  deps: CommitDeps,
  { id, owner, kinds, audit, saveIdempotentResponse }: CancelRequest,
): Promise<SavedResponse> => {
  const response: JsonResponse = {
    status: 200,
    body: { data: { task_id: id, status: 'FAILED', generated: [], error: ERROR } },
  }
  return await unitOfWork(
    deps,
    async (sql, enqueue) => {
      const task = await findImageTask(sql, { id, owner, kinds })
      if (!task) throw errors.taskNotFound(id)
      const moved = await transitionImageTask(sql, { id, to: 'FAILED', error: ERROR })
      if (!moved) throw errors.cannotCancel(await statusNow(sql, { id, owner, kinds }))
      await insertAudit(sql, audit, {
        action: 'task.cancel',
        target: auditTarget.task(id),
        before: { status: task.status },
        after: { status: 'FAILED' },
      })
      await enqueue(signalCancel('image', id))
      return await saveIdempotentResponse(sql, response)
    },
    {
      of: id,
      wasCommitted: async () =>
        (await findImageTask(deps.sql, { id, owner, kinds }))?.error?.code === 'cancelled',
    },
  )
}
