import { isClass, isInstanceValue } from '../values/read-value.ts'
import { call, callSpecial } from '../operate/call.ts'
import { evaluateSafely } from '../evaluate/expression.ts'
import { isInstance, typeOf } from '../operate/is-instance.ts'
import { execute } from './statement.ts'
import { bindName } from '../evaluate/name.ts'
import { inheritCause, raise, Raised } from '../operate/raise.ts'
import type { Completion, Runtime, Scope, Value } from '../types.ts'
import type { ExceptHandler, Name, Raise, Try, With } from '../../python/ast.ts'
import { setAttribute } from '../operate/set-attribute.ts'
import { truthOf } from '../operate/truth.ts'
import { assignTarget } from './assignment.ts'
import { orElse } from '../values/make-value.ts'

/** The body; a handler only if it raises; else `else`; then `finally`, which may end the block its own way. */
export function executeTry(rt: Runtime, node: Try, scope: Scope): Completion {
  const outcome = attempt(rt, () => runGuarded(rt, node, scope))
  const end = node.finalbody.length > 0 ? execute(rt, node.finalbody, scope) : undefined
  if (end !== undefined) return end
  if (outcome.raised) throw outcome.raised
  return outcome.end
}

interface Outcome {
  end: Completion
  raised: Raised | undefined
}

/** Catches a Python exception, and puts back what it left of the expressions it broke off. */
function attempt(rt: Runtime, run: () => Completion): Outcome {
  const { state } = rt
  const { nesting, depth, scope } = state
  try {
    return { end: run(), raised: undefined }
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    state.nesting = nesting
    state.depth = depth
    state.scope = scope
    return { end: undefined, raised: error }
  }
}

function runGuarded(rt: Runtime, node: Try, scope: Scope): Completion {
  const { raised, end } = attempt(rt, () => runBody(rt, node, scope))
  if (raised) return handle(rt, node, scope, raised)
  return end ?? execute(rt, node.orelse, scope)
}

function runBody(rt: Runtime, node: Try, scope: Scope): Completion {
  const { state } = rt
  const around = state.handlers
  if (node.handlers.length > 0)
    state.handlers = [...around, { types: node.handlers.map((handler) => handler.type), scope }]
  try {
    return execute(rt, node.body, scope)
  } finally {
    state.handlers = around
  }
}

/** Runs the first handler whose type fits or can't be decided. */
function handle(rt: Runtime, node: Try, scope: Scope, raised: Raised): Completion {
  for (const handler of node.handlers) {
    if (!fits(rt, handler, scope, raised.exception)) continue
    return runHandler(rt, handler, scope, raised.exception)
  }
  throw raised
}

function fits(rt: Runtime, handler: ExceptHandler, scope: Scope, exception: Value): boolean {
  if (handler.type === undefined) return true
  return isInstance(rt, exception, evaluateSafely(rt, handler.type, scope)) !== false
}

function runHandler(
  rt: Runtime,
  handler: ExceptHandler,
  scope: Scope,
  exception: Value,
): Completion {
  const { handled } = rt.state
  if (handler.name !== undefined) bindName(scope, handler.name, exception)
  handled.push(exception)
  try {
    return execute(rt, handler.body, scope)
  } finally {
    handled.pop()
  }
}

export function executeRaise(rt: Runtime, node: Raise, scope: Scope): never {
  if (node.exception === undefined) {
    const current = rt.state.handled.at(-1)
    return current === undefined
      ? raise(rt, 'RuntimeError', 'No active exception to reraise')
      : raise(rt, current)
  }
  const value = evaluateSafely(rt, node.exception, scope)
  const exception = isClass(value) ? call(rt, value, []) : value
  const cause = node.cause && evaluateSafely(rt, node.cause, scope)
  if (cause !== undefined)
    setAttribute(rt, exception, '__cause__', isClass(cause) ? call(rt, cause, []) : cause)
  inheritCause(rt, exception, rt.state.handled.at(-1))
  return raise(rt, exception)
}

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
  const around = rt.state.handlers
  // `contextlib.suppress` handles what a `try` with its classes would.
  if (isInstanceValue(manager) && manager.cls.name === 'suppress') {
    const types: Name[] = [{ kind: 'Name', id: '_classes', line: node.line }]
    rt.state.handlers = [...around, { types, scope: { ...scope, names: manager.attributes } }]
  }
  let end: Completion
  try {
    end = enterFrom(rt, node, scope, index + 1)
  } catch (error) {
    if (!(error instanceof Raised)) throw error
    if (!suppresses(rt, manager, error.exception)) throw error
    return undefined
  } finally {
    rt.state.handlers = around
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
