import { isIterator } from '../values/guards.ts'
import { readItems } from '../operate/iterate.ts'
import { evaluate } from './expression.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { Yield, YieldFrom } from '../../python/ast.ts'

export function evaluateYield(rt: Runtime, node: Yield, scope: Scope): Value {
  give(rt, scope, node.value ? evaluate(rt, node.value, scope) : null)
  return null
}

export function evaluateYieldFrom(rt: Runtime, node: YieldFrom, scope: Scope): Value {
  const source = evaluate(rt, node.value, scope)
  const { items, rest } = readItems(rt, source)
  if (rest && scope.frame) scope.frame.maybeYielded = true
  for (const item of items) give(rt, scope, item)
  const returned = isIterator(source) ? source.returned : undefined
  return returned ?? null
}

function give(rt: Runtime, scope: Scope, value: Value): void {
  const { frame } = scope
  if (frame === undefined) return
  if (rt.state.repeating > 0) frame.maybeYielded = true
  if (frame.yielded.length < rt.budget.limits.forItems) frame.yielded.push(value)
  else {
    rt.budget.spent('items')
    frame.maybeYielded = true
  }
}
