import type { Sql, Transaction } from '../db/client.ts'
import { withinDeadline } from '../db/client.ts'
import { isUnknownOutcome } from '../db/sqlstate.ts'
import { errors } from '../domain/shared/errors.ts'
import type { JsonAnswer } from './route.ts'

/**
 * Runs a transaction whose effect nothing can be looked for by afterwards: a connection lost at its COMMIT is answered
 * `outcome_unknown`, and the caller repeats with its key.
 */
export const transact = (
  sql: Sql,
  work: (sql: Transaction) => Promise<JsonAnswer>,
): Promise<JsonAnswer> =>
  withinDeadline(
    // Told apart before the deadline's own judgement, which calls every lost connection unavailable.
    sql.begin<JsonAnswer>(work).catch((error: unknown) => {
      throw isUnknownOutcome(error) ? errors.outcomeUnknown(error) : error
    }),
  )
