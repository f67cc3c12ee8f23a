import { randomUUID } from 'node:crypto'

import type { Transaction } from '../../db/client.ts'
import { commit } from '../../db/commit.ts'
import { insertOutbox } from '../../db/shared/outbox.ts'
import type { OutboxStart } from '../../db/shared/outbox.ts'
import { existsTask } from '../../db/task/task.ts'
import { failpoint } from '../../process/failpoint.ts'
import type { JsonAnswer } from '../route.ts'
import type { TaskDeps } from './deps.ts'

/**
 * Runs the creation of a task under a new id. A refused one keeps no files; one whose commit is in doubt must, because
 * it may exist.
 */
export const createUnderNewId = async (
  { storage }: Pick<TaskDeps, 'storage'>,
  create: (id: string) => Promise<JsonAnswer>,
): Promise<JsonAnswer> => {
  const id = randomUUID()
  try {
    return await create(id)
  } catch (error) {
    if ((error as { code?: string }).code !== 'outcome_unknown')
      await storage.removePrefix(`inputs/${id}`).catch(() => {})
    throw error
  }
}

interface TaskToCommit {
  id: string
  start: OutboxStart
  /** Inserts the task and stores the answer to its request, which it returns. */
  insert(sql: Transaction): Promise<JsonAnswer>
}

/** Makes a task durable together with the start of its workflow, and begins to tell Temporal. Answers what `insert` does. */
export const commitTask = async (
  { sql, jobs }: Pick<TaskDeps, 'sql' | 'jobs'>,
  { id, start, insert }: TaskToCommit,
): Promise<JsonAnswer> => {
  let answer: JsonAnswer | undefined
  const row = await commit(
    sql,
    async (sql) => {
      const [row, made] = await Promise.all([insertOutbox(sql, start), insert(sql)])
      answer = made
      return row
    },
    // Without its outbox id the row is the relay's.
    { wasCommitted: () => existsTask(sql, id), answer: undefined },
  )
  failpoint('create.after-commit')
  if (row) jobs.kick(row)
  if (!answer) throw new Error('a task was committed without an answer')
  return answer
}
