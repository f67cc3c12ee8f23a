import type postgres from 'postgres'

import { endsConnection } from './sqlstate.ts'

type Work = (sql: postgres.TransactionSql) => unknown

/**
 * Runs a transaction. When the connection breaks it rejects at once and nothing of `work` is sent any more. The driver
 * alone (3.4.9) would write its own ROLLBACK, or what `work` does next, to a socket that is gone: an exception nobody can
 * catch, or statements inside the transaction of whoever got the connection next.
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
    // The driver has rejected the transaction, or will as soon as it hears of the close; it must not go on here.
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
