import type postgres from 'postgres'

import { endsConnection } from './sqlstate.ts'

type Work = (sql: postgres.TransactionSql) => unknown

/**
 * Runs a transaction. When the connection breaks, it rejects at once and sends nothing of `work` any more. The driver
 * alone (3.4.9) would write its ROLLBACK, or the next statement of `work`, to a socket that is gone: nobody can catch the
 * exception, or the statement runs inside the next user's transaction.
 */
export const beginSafely = async (pool: postgres.Sql, work: Work): Promise<unknown> => {
  const connection = { broken: false }
  const outcome = pool.begin(async (sql) => {
    try {
      const result = await work(guard(sql, connection))
      if (!connection.broken) return result
    } catch (error) {
      if (!connection.broken && !endsConnection(error)) throw error
    }
    // The driver has rejected the transaction, or will when it learns of the close. Nothing must go on here.
    return await new Promise<never>(() => {})
  })
  return await outcome.catch((error: unknown) => {
    connection.broken = true
    throw error
  })
}

const guard = (
  sql: postgres.TransactionSql,
  connection: { broken: boolean },
): postgres.TransactionSql =>
  new Proxy(sql, {
    apply: (target, self, values: unknown[]) => {
      if (connection.broken) throw new Error('the connection of this transaction is gone')
      return Reflect.apply(target, self, values) as unknown
    },
  })
