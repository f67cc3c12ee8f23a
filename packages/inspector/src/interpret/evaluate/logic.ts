import { isUnknown } from '../values/guards.ts'
import { truthOf } from '../operate/truth.ts'
import { evaluate } from './expression.ts'
import { makeUnknown } from '../values/make-value.ts'
import { mergeValues } from '../values/merge-values.ts'
import { Raised } from '../operate/raise.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Truth, Value } from '../values/value.ts'
import type { BoolOp, Expression, IfExp } from '../../python/ast.ts'

/**
 * `and`, `or`. Once an operand is undecided the value is unknown; its truth is still known if a later operand decides
 * it.
 */
export function evaluateLogic(rt: Runtime, node: BoolOp, scope: Scope): Value {
  const deciding = node.op === 'or'
  let undecided: Value | undefined
  let last: Value = null
  for (const operand of node.values) {
    last = undecided === undefined ? evaluate(rt, operand, scope) : tryOut(rt, operand, scope)
    const truth = truthOf(rt, last)
    if (truth === deciding) return undecided === undefined ? last : unknownOf(undecided, deciding)
    if (truth === undefined) undecided ??= last
  }
  return undecided === undefined ? last : unknownOf(undecided, undefined)
}

function unknownOf(operand: Value, truth: Truth): Value {
  const unknown = makeUnknown('condition()', isUnknown(operand) ? operand.origin : 'pack')
  unknown.truth = truth
  return unknown
}

/** An operand that may not be evaluated at all: what it raises does not count. */
function tryOut(rt: Runtime, node: Expression, scope: Scope): Value {
  const { state } = rt
  const { nesting } = state
  try {
    return evaluate(rt, node, scope)
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    state.nesting = nesting
    return makeUnknown('raise')
  }
}

/** `a if test else b`: both, merged, if the test is undecided. */
export function evaluateConditional(rt: Runtime, node: IfExp, scope: Scope): Value {
  const test = truthOf(rt, evaluate(rt, node.test, scope))
  if (test === true) return evaluate(rt, node.body, scope)
  if (test === false) return evaluate(rt, node.orelse, scope)
  const values = [tryOut(rt, node.body, scope), tryOut(rt, node.orelse, scope)]
  return mergeValues(values) ?? null
}
