import { insertEndOutside } from '../../jobs/any-task.ts'
import { commit } from '../../db/commit.ts'
import type { Transaction } from '../../db/client.ts'
import type { OutboxRow } from '../../db/shared/outbox.ts'
import { cancelVideoTask, findVideoTask } from '../../db/video-task/video-task.ts'
import { errors } from '../../domain/shared/errors.ts'
import type { Fault } from '../../domain/shared/validate.ts'
import type { JsonAnswer, Route } from '../route.ts'
import type { VideoTaskDeps } from './deps.ts'

interface CancelRequest {
  id: string
  owner: string
  finish(sql: Transaction, answer: JsonAnswer): Promise<void>
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
 * Ends a task that no worker has taken yet, gives its credits back and its slot on. Throws 404, or 400 when it is too
 * late.
 */
export const cancelTask = async (
  deps: VideoTaskDeps,
  { id, owner, finish }: CancelRequest,
): Promise<JsonAnswer> => {
  const { sql, jobs, slots } = deps
  const answer: JsonAnswer = { status: 200, body: {} }
  const signals = await commit<OutboxRow[]>(
    sql,
    async (sql) => {
      const task = await findVideoTask(sql, { id, owner })
      if (!task) throw errors.taskNotFound(id)
      const admitted = await cancelVideoTask(sql, id, { slots })
      // The move that came first may have been made after the task was read.
      if (!admitted)
        throw errors.cannotCancelVideo((await findVideoTask(sql, { id, owner }))?.state ?? 'gone')
      const told = await insertEndOutside(sql, { ...task, family: 'video' }, deps)
      await finish(sql, answer)
      return [...told, ...admitted]
    },
    {
      answer: [],
      wasCommitted: async () =>
        (await findVideoTask(sql, { id, owner }))?.error?.code === 'UserCancelled',
    },
  )
  for (const signal of signals) jobs.kick(signal)
  return answer
}
