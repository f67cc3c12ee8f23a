import { bindParameters } from './bind-parameters.ts'
import type { CallArguments } from './call-arguments.ts'
import { mergeReturned } from './merge-values.ts'
import { makeIterator, makeUnknown } from './make-value.ts'
import type { Runtime } from './runtime.ts'
import type { Frame, Scope } from './scope.ts'
import type { FunctionValue, IteratorValue, Value } from './value.ts'

/** Calls a function of the pack. A generator function gives an iterator; its body runs when that is first asked. */
export function callFunction(rt: Runtime, fn: FunctionValue, call: CallArguments): Value {
  const { limits } = rt.budget
  if (rt.state.depth >= limits.callDepth) return giveUp(rt, fn, call, 'depth')
  if (fn.active >= limits.sameFunction) return giveUp(rt, fn, call, 'recursion')
  const scope = makeFunctionScope(rt, fn, call)
  if (fn.node.kind === 'FunctionDef' && fn.node.isGenerator) return makeGenerator(rt, fn, scope)
  return runBody(rt, fn, scope)
}

function giveUp(
  rt: Runtime,
  fn: FunctionValue,
  { args, kwargs, rest }: CallArguments,
  budget: 'depth' | 'recursion',
): Value {
  rt.budget.spent(budget, fn.qualname)
  return makeUnknown(`${fn.name}()`, 'pack', { callee: fn, args, kwargs, rest })
}

function makeFunctionScope(rt: Runtime, fn: FunctionValue, call: CallArguments): Scope {
  const frame: Frame = { function: fn, self: call.args[0], maybeReturned: [], yielded: [] }
  return {
    kind: 'function',
    names: bindParameters(rt, fn, call),
    parent: fn.scope,
    module: fn.module,
    declared: undefined,
    frame,
    owner: fn.owner ?? fn.scope.owner,
  }
}

function runBody(rt: Runtime, fn: FunctionValue, scope: Scope): Value {
  const { state } = rt
  const caller = state.scope
  const { nesting } = state
  state.scope = scope
  state.depth += 1
  state.nesting = 0
  fn.active += 1
  try {
    if (fn.node.kind === 'Lambda') return rt.evaluate(fn.node.body, scope)
    const end = rt.execute(fn.node.body, scope)
    const returned = typeof end === 'object' ? end.returned : null
    const maybe = scope.frame?.maybeReturned ?? []
    return maybe.length === 0 ? returned : mergeReturned([...maybe, returned])
  } finally {
    fn.active -= 1
    state.nesting = nesting
    state.depth -= 1
    state.scope = caller
  }
}

/** Reads the whole generator at the first `next`: nothing between two of its steps is seen by anybody. */
function makeGenerator(rt: Runtime, fn: FunctionValue, scope: Scope): IteratorValue {
  let index = -1
  const yielded = scope.frame?.yielded ?? []
  const generator = makeIterator('generator', () => {
    if (index < 0) {
      index = 0
      generator.returned = runBody(rt, fn, scope)
    }
    const item = yielded[index]
    index += 1
    return item
  })
  return generator
}
