import type { Fragment, Sql } from './client.ts'

/** Loops that run in one process at a time; the numbers are arbitrary and ours. */
const LOCKS = { reconcile: 7_041_978, admission: 7_041_980 } as const

/**
 * Runs the work of a loop unless another process does. The lock belongs to the session, so a dead process frees it; `sql`
 * must be a pool of one connection, which is that session. If the connection breaks, a second process may begin beside
 * this one. That does no harm: each step is conditional.
 */
export const withLoopLock = async <T>(
  sql: Sql,
  loop: keyof typeof LOCKS,
  work: () => Promise<T>,
): Promise<T | undefined> => {
  const lock = LOCKS[loop]
  const [taken] = await sql<{ is: boolean }[]>`select pg_try_advisory_lock(${lock}) as is`
  if (!taken?.is) return undefined
  try {
    return await work()
  } finally {
    await sql`select pg_advisory_unlock(${lock})`
  }
}

/** Options of a list of what stands still. */
export interface StalledOptions {
  afterSeconds: number
  /** Those after the id that the batch before ended with, or one. */
  ids: { after: string } | { only: string }
  limit: number
}

/** The condition that a column is one of these ids. */
export const isAmong = (sql: Sql, column: Fragment, ids: StalledOptions['ids']): Fragment =>
  'only' in ids ? sql`${column} = ${ids.only}` : sql`${column} > ${ids.after}`
