import type { Expression } from '../../python/ast.ts'
import type { Binding, Effort, Scope } from './scope.ts'

/**
 * One question about a value. Its steps bound the cost of the result with all questions that it leads to, so that a
 * hostile file can't multiply work. Names and texts ask each other through it.
 */
export interface Query {
  steps: number
  depth: number
  /** Effort that all questions about the file may cost. */
  effort: Effort
  names(node: Expression, scope: Scope): string[]
  texts(node: Expression, scope: Scope): string[]
  /** Bindings that a value leads to; see `targetsWithin`. */
  targets(node: Expression, scope: Scope): Binding[]
  /** The last bindings that targets lead to. */
  ends(node: Expression, scope: Scope): Binding[]
  /** The text of a value that can be only one and is wholly known. */
  constant(node: Expression, scope: Scope): string | undefined
}

/** Real code needs a few dozen steps. */
export const MAX_STEPS = 1500

const MAX_DEPTH = 40

/** Runs one step deeper; `otherwise` when the effort is spent. */
export const deeper = <T>(query: Query, run: () => T, otherwise: T): T => {
  if (query.steps <= 0 || query.depth >= MAX_DEPTH || query.effort.steps <= 0) return otherwise
  charge(query, 1)
  query.depth += 1
  const result = run()
  query.depth -= 1
  return result
}

export const charge = (query: Query, steps: number): void => {
  query.steps -= steps
  query.effort.steps -= steps
}
