import { describeCauses } from '../domain/causes.ts'
import type { Log } from '../log.ts'

/** An error that the operator can act on. Its message names the next step. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** Makes the end of a process that cannot start: its last line of the log says why, and what to do where that is known. */
export const endWithLine =
  (log: Log) =>
  (error: unknown): never => {
    if (error instanceof OperatorError) log.fatal(error.message)
    else log.fatal({ err: error }, `it cannot start: ${describeCauses(error)}`)
    process.exit(1)
  }

/** Message of a check whose part works, while something there waits for the operator. */
export class OperatorWarning extends OperatorError {}
