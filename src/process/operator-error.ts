/** An error that the operator can act on. Its message names the next step. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
