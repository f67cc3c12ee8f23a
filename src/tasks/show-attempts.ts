import { PUT_BACK } from './db/ended-attempt.ts'
import type { TaskDetailRow } from './db/task-detail.ts'
import type { TaskDetail } from './domain/task-item.ts'

/** Shows the attempts at rendering a task, in order. */
export const showAttempts = (task: TaskDetailRow): TaskDetail['attempts'] =>
  task.attempts.map((_, index) => toAttempt(task, index))

/** Shows what is known of an attempt: it ends with its task, or by its own failure. */
const toAttempt = (
  { attempts, item: { ended_at: endedAt, state, error } }: TaskDetailRow,
  index: number,
): TaskDetail['attempts'][number] => {
  const {
    n,
    at,
    failed_at: failedAt,
    error: code,
  } = attempts[index] as TaskDetailRow['attempts'][number]
  const begun = { number: n, started_at: toInstant(at) }
  if (failedAt !== undefined && code === PUT_BACK)
    return { ...begun, ended_at: toInstant(failedAt), outcome: 'put_back' }
  if (failedAt !== undefined)
    return {
      ...begun,
      ended_at: toInstant(failedAt),
      outcome: 'failed',
      ...(code && { error: code }),
    }
  const next = attempts[index + 1]
  if (next) return { ...begun, ended_at: toInstant(next.at), outcome: 'lost' }
  if (endedAt === undefined) return { ...begun, outcome: 'running' }
  const ended = { ...begun, ended_at: endedAt }
  if (state === 'failed')
    return { ...ended, outcome: 'failed', ...(error && { error: error.code }) }
  return { ...ended, outcome: state === 'done' ? 'done' : 'cancelled' }
}

const toInstant = (text: string): string => new Date(text).toISOString()
