/** A fault the operator can act on; its message names the next step. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
