import { evaluate } from '../run-code.ts'
import { isNotImplemented, isUnknown, payloadOf } from '../values/read-value.ts'
import { truthOf } from '../operate/truth.ts'
import { callSpecial } from '../operate/call.ts'
import { less } from '../operate/order.ts'
import { contains } from '../operate/membership.ts'
import { makeUnknown } from '../values/make-value.ts'
import type { BoolOp, Compare, CompareOperator, Expression, IfExp } from '../../python/ast.ts'
import { equals, identical } from '../operate/compare.ts'
import type { Runtime, Scope, Truth, Value } from '../types.ts'
import { mergeValues } from '../values/merge-values.ts'
import { runUnsure } from '../execute/branch.ts'

/** `a < b <= c`: stops at the first false; one undecided comparison leaves the whole undecided, unless one is false. */
export function evaluateComparison(rt: Runtime, node: Compare, scope: Scope): Value {
  let left = evaluate(rt, node.left, scope)
  let undecided = false
  for (const { op, value } of node.comparisons) {
    const right = evaluate(rt, value, scope)
    const truth = compareBy(rt, op, left, right)
    if (truth === false) return false
    if (truth === undefined) undecided = true
    left = right
  }
  return undecided ? makeUnknown('comparison') : true
}

function compareBy(rt: Runtime, op: CompareOperator, a: Value, b: Value): Truth {
  switch (op) {
    case '==':
      return equals(rt, a, b)
    case '!=':
      return differs(rt, a, b)
    case 'is':
      return identical(rt, a, b)
    case 'is not':
      return not(identical(rt, a, b))
    case 'in':
      return contains(rt, b, a)
    case 'not in':
      return not(contains(rt, b, a))
    case '<':
      return less(rt, a, b)
    case '>':
      return less(rt, b, a)
    case '<=':
      return lessOrEqual(rt, a, b, '__le__', '__ge__')
    case '>=':
      return lessOrEqual(rt, b, a, '__ge__', '__le__')
  }
}

function not(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth
}

function differs(rt: Runtime, a: Value, b: Value): Truth {
  const own = callSpecial(rt, a, '__ne__', [b]) ?? callSpecial(rt, b, '__ne__', [a])
  if (own !== undefined && !isNotImplemented(own)) return truthOf(rt, own)
  return not(equals(rt, a, b))
}

/** `a <= b`; `own` and `reflected` name the methods of the operator as it was written. */
function lessOrEqual(rt: Runtime, a: Value, b: Value, own: string, reflected: string): Truth {
  const [left, right] = own === '__le__' ? [a, b] : [b, a]
  const forward = callSpecial(rt, left, own, [right])
  if (forward !== undefined && !isNotImplemented(forward)) return truthOf(rt, forward)
  const backward = callSpecial(rt, right, reflected, [left])
  if (backward !== undefined && !isNotImplemented(backward)) return truthOf(rt, backward)
  const [x, y] = [payloadOf(a), payloadOf(b)]
  const before = less(rt, x, y)
  if (before !== false) return before
  return equals(rt, x, y)
}

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
  let value: Value = makeUnknown('raise')
  runUnsure(rt, () => {
    value = evaluate(rt, node, scope)
    return undefined
  })
  return value
}

/** `a if test else b`: both, merged, if the test is undecided. */
export function evaluateConditional(rt: Runtime, node: IfExp, scope: Scope): Value {
  const test = truthOf(rt, evaluate(rt, node.test, scope))
  if (test === true) return evaluate(rt, node.body, scope)
  if (test === false) return evaluate(rt, node.orelse, scope)
  const values = [tryOut(rt, node.body, scope), tryOut(rt, node.orelse, scope)]
  return mergeValues(values) ?? null
}
