/** An error that the operator can act on. Its message names the next step. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** Message of a check whose part works, while something there waits for the operator. */
export class OperatorWarning extends OperatorError {}
