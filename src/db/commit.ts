import { setTimeout as sleep } from 'node:timers/promises'

import { ApiError, errors } from '../domain/shared/errors.ts'
import { inTime, LateError } from '../domain/shared/in-time.ts'
import type { Sql, Transaction } from './client.ts'
import { isRetryable, isUnavailable, isUnknownOutcome } from './sqlstate.ts'

/** All database work of one request, in milliseconds. */
const DEADLINE_MS = 1800
const RETRIES = 3
const REREAD_PAUSE_MS = 100

/**
 * Commits `work` and answers what it returns. When the connection breaks while COMMIT is under way, whether it took
 * effect is not known (with the server killed under load, 26 % of the requests that saw an error had committed):
 * `wasCommitted` then looks on a new connection until the deadline. Throws 503 `outcome_unknown` when even that cannot
 * tell, and 503 `unavailable` when nothing was committed for sure.
 */
export const commit = async <T>(
  sql: Sql,
  work: (sql: Transaction) => Promise<T>,
  { wasCommitted, answer }: { wasCommitted: () => Promise<boolean>; answer: T },
): Promise<T> => {
  const deadline = Date.now() + DEADLINE_MS
  const progress: Progress = { committing: false, late: false }
  try {
    return await before(deadline, beginWithRetries(sql, work, progress))
  } catch (error) {
    // From here on no transaction of this request may reach its COMMIT.
    progress.late = true
    if (error instanceof ApiError) throw error
    if (!(error instanceof LateError) && !isUnavailable(error)) throw error
    if (!progress.committing || !mayHaveCommitted(error)) throw errors.unavailable(error)
    if (await lookUntil(deadline, wasCommitted)) return answer
    throw errors.outcomeUnknown(error)
  }
}

interface Progress {
  /** The work is done and COMMIT is on its way. */
  committing: boolean
  /** The request has been answered: what is under way is rolled back. */
  late: boolean
}

const mayHaveCommitted = (error: unknown): boolean =>
  error instanceof LateError || isUnknownOutcome(error)

const beginWithRetries = async <T>(
  sql: Sql,
  work: (sql: Transaction) => Promise<T>,
  progress: Progress,
): Promise<T> => {
  for (let tries = 1; ; tries += 1)
    try {
      const done = await sql.begin(async (sql) => {
        const result = await work(sql)
        if (progress.late) throw new LateError('the request has been answered')
        progress.committing = true
        return result
      })
      return done as T
    } catch (error) {
      if (!isRetryable(error)) throw error
      progress.committing = false
      if (tries === RETRIES || progress.late) throw errors.unavailable(error)
    }
}

const before = <T>(deadline: number, work: Promise<T>): Promise<T> =>
  inTime(work, Math.max(0, deadline - Date.now()), 'PostgreSQL')

const lookUntil = async (deadline: number, look: () => Promise<boolean>): Promise<boolean> => {
  while (Date.now() < deadline) {
    const found = await before(deadline, look()).catch(() => false)
    if (found) return true
    await sleep(REREAD_PAUSE_MS)
  }
  return false
}
