/** An error that the operator can act on. Its message names the next step. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** Ends the process with the line of an operator error, and throws any other error again. */
export const endWithLine = (error: unknown): never => {
  if (!(error instanceof OperatorError)) throw error
  process.stderr.write(`kiln: ${error.message}\n`)
  process.exit(1)
}

/** Message of a check whose part works, while something there waits for the operator. */
export class OperatorWarning extends OperatorError {}
