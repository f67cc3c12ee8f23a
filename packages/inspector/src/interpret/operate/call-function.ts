import { evaluate, execute } from '../run-code.ts'
import { giveAway, mentioned, openReached } from './give-away.ts'
import { makeDict } from './mapping.ts'
import { Raised, raiseIfCertain } from './raise.ts'
import type {
  CallArguments,
  Frame,
  FunctionValue,
  IteratorValue,
  Runtime,
  Scope,
  Value,
} from '../types.ts'
import { makeIterator, makeTuple, makeUnknown, orElse } from '../values/make-value.ts'
import { mergeReturned } from '../values/merge-values.ts'
import type { Arguments, FunctionDef, Parameter } from '../../python/ast.ts'

/** Calls a function of the pack. A generator function gives an iterator; its body runs when that is first asked. */
export function callFunction(rt: Runtime, fn: FunctionValue, call: CallArguments): Value {
  const { limits } = rt.budget
  if (rt.state.depth >= limits.callDepth) return giveUp(rt, fn, call, 'depth')
  // The library's own code recurses no deeper than what it is given.
  if (fn.active > 0 && fn.module.home === 'pack' && fn.active >= maxWithin(rt, fn))
    return giveUp(rt, fn, call, 'recursion')
  const scope = makeFunctionScope(rt, fn, call)
  const isCoroutine = fn.node.kind === 'FunctionDef' && fn.node.isAsync && fn.module.home === 'pack'
  return fn.node.isGenerator || isCoroutine ? makeGenerator(rt, fn, scope) : runBody(rt, fn, scope)
}

/**
 * Calls of a function that may run within each other. One that calls itself more than once would have no end, least of all
 * with arguments that are not known.
 */
function maxWithin({ budget: { limits }, state }: Runtime, fn: FunctionValue): number {
  if (fn.branch === state.added)
    return fn.calls < CALLS_DEEP ? limits.sameFunctionDeep : limits.sameFunction
  fn.unsure += 1
  return fn.unsure < CALLS_UNSURE ? limits.sameFunction : 2
}

const CALLS_DEEP = 1000
const CALLS_UNSURE = 40

function giveUp(
  rt: Runtime,
  fn: FunctionValue,
  call: CallArguments,
  budget: 'depth' | 'recursion',
): Value {
  rt.budget.spent(budget, fn.qualname)
  giveAway(rt, fn, call)
  // It was not run: all that it may write is unknown.
  rt.state.guesses += 1
  openReached(rt, mentioned(rt, fn.node, fn.scope))
  return makeUnknown(`${fn.name}()`, 'pack', { callee: fn, ...call })
}

function makeFunctionScope(rt: Runtime, fn: FunctionValue, call: CallArguments): Scope {
  const frame: Frame = {
    caller: rt.state.scope,
    function: fn,
    self: call.args[0],
    maybeReturned: [],
    yielded: [],
    maybeYielded: false,
  }
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
  const { nesting, repeating, maybeLeft } = state
  state.scope = scope
  state.repeating = 0
  state.maybeLeft = false
  state.depth += 1
  state.nesting = 0
  if (fn.active === 0) fn.branch = state.added
  fn.active += 1
  fn.calls += 1
  try {
    if (fn.node.kind === 'Lambda') return evaluate(rt, fn.node.body, scope)
    return resultOf(rt, fn.node, scope)
  } finally {
    fn.active -= 1
    state.repeating = repeating
    state.maybeLeft = maybeLeft
    state.nesting = nesting
    state.depth -= 1
    state.scope = caller
  }
}

/** Runs the body. A value that it may have returned before it raised is the result instead of the raise. */
function resultOf(rt: Runtime, node: FunctionDef, scope: Scope): Value {
  const maybe = scope.frame?.maybeReturned ?? []
  try {
    const end = execute(rt, node.body, scope)
    const returned = typeof end === 'object' ? end.returned : null
    return maybe.length === 0 ? returned : mergeReturned([...maybe, returned])
  } catch (error) {
    if (!(error instanceof Raised) || maybe.length === 0) throw error
    rt.state.mayRaise.push(error.exception)
    return mergeReturned(maybe)
  }
}

/** Reads the whole generator at the first `next`: nothing between two of its steps is seen by anybody. */
function makeGenerator(rt: Runtime, fn: FunctionValue, scope: Scope): IteratorValue {
  let index = -1
  const yielded = scope.frame?.yielded ?? []
  const generator = makeIterator(fn.node.isGenerator ? 'generator' : 'coroutine', () => {
    if (index < 0) {
      index = 0
      generator.returned = runBody(rt, fn, scope)
    }
    const item = yielded[index]
    index += 1
    if (item === undefined) generator.rest = scope.frame?.maybeYielded ?? false
    return item
  })
  generator.runAround = (block) => {
    index = 0
    if (scope.frame) scope.frame.block = block
    generator.returned = runBody(rt, fn, scope)
  }
  return generator
}

/**
 * The names a call binds. Lenient where Python raises TypeError, but for a `try` that expects it: a missing argument is
 * unknown, one too many is dropped, because a wrong count here comes more often from our ignorance than from the pack.
 */
function bindParameters(rt: Runtime, fn: FunctionValue, call: CallArguments): Map<string, Value> {
  const names = new Map<string, Value>()
  const { args } = fn.node
  const placed = [...args.positionalOnly, ...args.positional]
  for (const [at, { name }] of placed.entries()) {
    const value = call.args[at]
    if (value !== undefined) names.set(name, value)
  }
  if (args.varargs)
    names.set(args.varargs.name, makeTuple(call.args.slice(placed.length), call.rest))
  else if (call.args.length > placed.length) raiseArguments(rt, fn)
  const left = bindKeywords(args, call, names)
  if (args.kwargs) {
    const dict = makeDict(rt, left)
    dict.rest ||= call.rest
    names.set(args.kwargs.name, dict)
  } else if (left.length > 0) raiseArguments(rt, fn)
  // Defaults, then unknowns for what is still missing.
  for (const { name } of [...placed, ...args.keywordOnly]) {
    if (names.has(name)) continue
    const value = fn.defaults.get(name)
    if (value === undefined && !call.rest) raiseArguments(rt, fn)
    names.set(
      name,
      orElse(value, () => makeUnknown(name)),
    )
  }
  return names
}

function raiseArguments(rt: Runtime, { name }: FunctionValue): void {
  raiseIfCertain(rt, 'TypeError', `${name}() takes other arguments`)
}

/** Gives the keyword arguments that no parameter takes. */
function bindKeywords(
  args: Arguments,
  call: CallArguments,
  names: Map<string, Value>,
): [string, Value][] {
  if (call.kwargs.size === 0) return []
  const left: [string, Value][] = []
  for (const [name, value] of call.kwargs) {
    if (!names.has(name) && isNamed(args, name)) names.set(name, value)
    else left.push([name, value])
  }
  return left
}

function isNamed(args: Arguments, name: string): boolean {
  const isIt = (parameter: Parameter) => parameter.name === name
  return args.positional.some(isIt) || args.keywordOnly.some(isIt)
}
