import { truthOf } from '../operate/truth.ts'
import { typeOf } from '../operate/type-of.ts'
import { callSpecial } from '../operate/call.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { execute } from './statement.ts'
import { assignTarget } from './assignment.ts'
import { orElse } from '../values/make-value.ts'
import { Raised } from '../operate/raise.ts'
import type { Completion, Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { With } from '../../python/ast.ts'

export function executeWith(rt: Runtime, node: With, scope: Scope): Completion {
  return enterFrom(rt, node, scope, 0)
}

/** Enters the item, runs the others and the body inside it, and leaves it. */
function enterFrom(rt: Runtime, node: With, scope: Scope, index: number): Completion {
  const item = node.items[index]
  if (!item) return execute(rt, node.body, scope)
  const manager = evaluateSafely(rt, item.context, scope)
  const entered = enter(rt, manager)
  if (item.target) assignTarget(rt, item.target, entered, scope)
  let end: Completion
  try {
    end = enterFrom(rt, node, scope, index + 1)
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    if (!suppresses(rt, manager, error.exception)) throw error
    return undefined
  }
  leave(rt, manager, [null, null, null])
  return end
}

/** An unknown manager gives an unknown that stands for what it opens. */
function enter(rt: Runtime, manager: Value): Value {
  const entered = callSpecial(rt, manager, '__enter__', [])
  if (entered !== undefined) return entered
  return orElse(callSpecial(rt, manager, '__aenter__', []), () => manager)
}

function leave(rt: Runtime, manager: Value, args: Value[]): Value | undefined {
  return callSpecial(rt, manager, '__exit__', args) ?? callSpecial(rt, manager, '__aexit__', args)
}

function suppresses(rt: Runtime, manager: Value, exception: Value): boolean {
  const { nesting } = rt.state
  const left = leave(rt, manager, [typeOf(rt, exception), exception, null])
  rt.state.nesting = nesting
  return left !== undefined && truthOf(rt, left) === true
}
