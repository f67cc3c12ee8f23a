import { isUnknown } from '../values/guards.ts'
import { call } from '../operate/call.ts'
import { evaluateSafely } from './expression.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { Expression } from '../../python/ast.ts'

export function evaluateDecorators(
  rt: Runtime,
  nodes: readonly Expression[],
  scope: Scope,
): Value[] {
  return nodes.map((node) => evaluateSafely(rt, node, scope))
}

/** Applies the last one first. One that is unknown, or gives an unknown, leaves what it decorates. */
export function decorate(rt: Runtime, decorators: readonly Value[], value: Value): Value {
  let decorated = value
  for (const decorator of decorators.toReversed()) {
    if (isUnknown(decorator)) continue
    const result = call(rt, decorator, [decorated])
    if (!isUnknown(result)) decorated = result
  }
  return decorated
}
