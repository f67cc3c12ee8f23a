import type { Compare, CompareOperator } from '../../python/ast.ts'
import { isNotImplemented } from '../operate/compare.ts'
import { payloadOf } from '../values/payload.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Truth, Value } from '../values/value.ts'

/** `a < b <= c`: stops at the first false; one undecided comparison leaves the whole undecided, unless one is false. */
export function evaluateComparison(rt: Runtime, node: Compare, scope: Scope): Value {
  let left = rt.evaluate(node.left, scope)
  let undecided = false
  for (const { op, value } of node.comparisons) {
    const right = rt.evaluate(value, scope)
    const truth = compareBy(rt, op, left, right)
    if (truth === false) return false
    if (truth === undefined) undecided = true
    left = right
  }
  return undecided ? rt.unknown('comparison', 'pack') : true
}

export function compareBy(rt: Runtime, op: CompareOperator, a: Value, b: Value): Truth {
  switch (op) {
    case '==':
      return rt.equals(a, b)
    case '!=':
      return differs(rt, a, b)
    case 'is':
      return rt.identical(a, b)
    case 'is not':
      return not(rt.identical(a, b))
    case 'in':
      return rt.contains(b, a)
    case 'not in':
      return not(rt.contains(b, a))
    case '<':
      return rt.less(a, b)
    case '>':
      return rt.less(b, a)
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
  const own = rt.callSpecial(a, '__ne__', [b]) ?? rt.callSpecial(b, '__ne__', [a])
  if (own !== undefined && !isNotImplemented(own)) return rt.truth(own)
  return not(rt.equals(a, b))
}

/** `a <= b`; `own` and `reflected` name the methods of the operator as it was written. */
function lessOrEqual(rt: Runtime, a: Value, b: Value, own: string, reflected: string): Truth {
  const [left, right] = own === '__le__' ? [a, b] : [b, a]
  const forward = rt.callSpecial(left, own, [right])
  if (forward !== undefined && !isNotImplemented(forward)) return rt.truth(forward)
  const backward = rt.callSpecial(right, reflected, [left])
  if (backward !== undefined && !isNotImplemented(backward)) return rt.truth(backward)
  const [x, y] = [payloadOf(a), payloadOf(b)]
  const before = rt.less(x, y)
  if (before !== false) return before
  return rt.equals(x, y)
}
