import type { Sql, Transaction } from '../src/db/client.ts'
import { failpoint } from '../src/process/failpoint.ts'

/** One move of a version: a short transaction between the lines at which fault tests kill. */
export const inTransaction = async <T>(
  { sql }: { sql: Sql },
  work: (sql: Transaction) => Promise<T>,
): Promise<T> => {
  const result = await sql.begin(async (sql) => {
    const done = await work(sql)
    failpoint('move.before-commit')
    return done
  })
  failpoint('move.after-commit')
  return result as T
}
