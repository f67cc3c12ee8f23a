import { randomUUID } from 'node:crypto'

import type { Transaction } from '../../db/client.ts'
import type { OutboxStart } from '../../db/shared/outbox.ts'
import { existsTask } from '../../db/task/task.ts'
import { isOutcomeUnknown, unitOfWork } from '../../db/unit-of-work.ts'
import type { SavedAnswer } from '../route.ts'
import type { InputDeps } from './deps.ts'
import type { CommitDeps } from '../deps.ts'

/**
 * Runs the creation of a task under a new id. When it is refused, its files are removed. When its commit is in doubt
 * they must stay, because the task may exist.
 */
export const createUnderNewId = async (
  { storage }: Pick<InputDeps, 'storage'>,
  create: (id: string) => Promise<SavedAnswer>,
): Promise<SavedAnswer> => {
  const id = randomUUID()
  try {
    return await create(id)
  } catch (error) {
    if (!isOutcomeUnknown(error)) await storage.removePrefix(`inputs/${id}`).catch(() => {})
    throw error
  }
}

interface TaskToCommit {
  id: string
  start: OutboxStart
  /** Inserts the task and stores the answer to its request, which it returns. */
  insert(sql: Transaction): Promise<SavedAnswer>
}

/** Makes a task durable together with the start of its workflow. Answers what `insert` does. */
export const commitTask = async (
  deps: CommitDeps,
  { id, start, insert }: TaskToCommit,
): Promise<SavedAnswer> =>
  await unitOfWork(
    deps,
    async (sql, tell) => {
      const [, answer] = await Promise.all([tell(start), insert(sql)])
      return answer
    },
    { at: 'create', wasCommitted: () => existsTask(deps.sql, id) },
  )

/** Summaries are limited to 400 bytes; an owner may be 255 characters. */
const OWNER_SHOWN = 60

/** What an operator reads first of a task: "relight 1024×768 for alice". */
export const summarise = (what: string, owner: string): string =>
  `${what} for ${[...owner].slice(0, OWNER_SHOWN).join('')}`
