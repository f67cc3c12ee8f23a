import { signalCancel } from '../../jobs/task.ts'
import { unitOfWork } from '../../db/unit-of-work.ts'
import { cancelVideoTask, findVideoTask } from '../../db/video-task/video-task.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import type { JsonAnswer, Route, RouteRequest, SavedAnswer } from '../route.ts'
import type { Slots } from '../../db/video-task/video-queue.ts'
import type { CommitDeps } from '../deps.ts'

interface CancelRequest {
  id: string
  owner: string
  saveIdempotentResponse: RouteRequest['saveIdempotentResponse']
}

/** The id in a body, when there is one, is that of the path. */
export const judgeCancel: NonNullable<Route['judge']> = ({ params, body: { id } }): Fault[] =>
  typeof id !== 'string' || id.toLowerCase() === String(params['task_id']).toLowerCase()
    ? []
    : [
        {
          field: '/id',
          code: 'validation_failed',
          message: '/id must be the id in the path, got another one',
        },
      ]

/**
 * Ends a task that no worker has taken yet, refunds its credits and passes its slot on. Throws 404, or 400 when it is
 * too late.
 */
export const cancelTask = async (
  deps: CommitDeps & Slots,
  { id, owner, saveIdempotentResponse }: CancelRequest,
): Promise<SavedAnswer> => {
  const answer: JsonAnswer = { status: 200, body: {} }
  return await unitOfWork(
    deps,
    async (sql, tell) => {
      const task = await findVideoTask(sql, { id, owner })
      if (!task) throw errors.taskNotFound(id)
      // The move that came first may have been made after the task was read.
      if (!(await cancelVideoTask(sql, id, { ...deps, tell })))
        throw errors.cannotCancelVideo((await findVideoTask(sql, { id, owner }))?.state ?? 'gone')
      await tell(signalCancel('video', id))
      return await saveIdempotentResponse(sql, answer)
    },
    {
      of: id,
      wasCommitted: async () =>
        (await findVideoTask(deps.sql, { id, owner }))?.error?.code === 'UserCancelled',
    },
  )
}
