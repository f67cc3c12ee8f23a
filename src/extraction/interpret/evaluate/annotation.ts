import { makeUnknown } from '../values/make-value.ts'
import { evaluateSafely } from './expression.ts'
import { Raised } from '../operate/raise.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { Expression } from '../../python/ast.ts'

/**
 * The value of an annotation; unknown where it raises: it may name what is defined later, or be text that Python never
 * evaluates.
 */
export function evaluateAnnotation(rt: Runtime, node: Expression, scope: Scope): Value {
  const { handlers } = rt.state
  rt.state.handlers = []
  try {
    return evaluateSafely(rt, node, scope)
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    return makeUnknown('annotation')
  } finally {
    rt.state.handlers = handlers
  }
}
