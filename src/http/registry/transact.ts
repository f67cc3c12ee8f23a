import type { Sql, Transaction } from '../../db/client.ts'
import { commit } from '../../db/commit.ts'

/**
 * Runs the writing work of one request in one transaction, again after a deadlock. Throws 503 when the database is away,
 * and 503 `outcome_unknown` when the connection broke during the COMMIT: what is written here says of itself on the next
 * read, or repetition, whether it took effect.
 */
export const transact = <T>(sql: Sql, work: (sql: Transaction) => Promise<T>): Promise<T> =>
  commit<T | undefined>(sql, work, {
    wasCommitted: () => Promise.resolve(false),
    answer: undefined,
  }) as Promise<T>
