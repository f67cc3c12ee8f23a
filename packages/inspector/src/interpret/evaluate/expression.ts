import { BudgetSpent } from '../budget.ts'
import { evaluateCall } from './call-expression.ts'
import { evaluateComparison, evaluateConditional, evaluateLogic } from './comparison.ts'
import { evaluateComprehension, evaluateDictComprehension } from './comprehension.ts'
import { evaluateDict, evaluateFormatted, evaluateSequence, evaluateSet } from './display.ts'
import { makeFunction } from './make-function.ts'
import { bindNameOutside, lookUpName, stepOf } from './name.ts'
import { getAttribute } from '../operate/attribute.ts'
import { getItem } from '../operate/item.ts'
import { binary, negate } from '../operate/operator.ts'
import { attempt, Raised } from '../operate/raise.ts'
import { truthOf } from '../operate/truth.ts'
import type { Runtime, Scope, Value } from '../types.ts'
import { ELLIPSIS, makeBytes, makeUnknown, orElse } from '../values/make-value.ts'
import type {
  BinOp,
  Constant,
  Expression,
  Slice,
  UnaryOp,
  Yield,
  YieldFrom,
} from '../../python/ast.ts'
import { callSpecial } from '../operate/call.ts'
import { isInstanceValue, isIterator, isUnknown } from '../values/read-value.ts'
import { readItems } from '../operate/iterate.ts'

/** The value of an expression. Throws Raised and BudgetSpent. */
export function evaluate(rt: Runtime, node: Expression, scope: Scope): Value {
  const { state, budget } = rt
  budget.step(stepOf(scope))
  if (state.nesting >= budget.limits.nesting) {
    budget.spent('nesting')
    return makeUnknown('expression')
  }
  state.nesting += 1
  const value = evaluateNode(rt, node, scope)
  // Left as it is by a raise; every place that catches puts it back.
  state.nesting -= 1
  if (state.handlers.length > 0 && isUnknown(value)) state.guesses += 1
  return value
}

function evaluateNode(rt: Runtime, node: Expression, scope: Scope): Value {
  switch (node.kind) {
    case 'Name':
      return lookUpName(rt, scope, node.id)
    case 'Constant':
      return valueOfConstant(node)
    case 'Attribute':
      return getAttribute(rt, evaluate(rt, node.value, scope), node.attr)
    case 'Call':
      return evaluateCall(rt, node, scope)
    case 'Tuple':
    case 'List':
      return evaluateSequence(rt, node, scope)
    case 'Dict':
      return evaluateDict(rt, node, scope)
    case 'Subscript':
      return getItem(rt, evaluate(rt, node.value, scope), evaluate(rt, node.index, scope))
    case 'BinOp':
      return evaluateBinary(rt, node, scope)
    case 'Compare':
      return evaluateComparison(rt, node, scope)
    case 'BoolOp':
      return evaluateLogic(rt, node, scope)
    case 'UnaryOp':
      return evaluateUnary(rt, node, scope)
    case 'IfExp':
      return evaluateConditional(rt, node, scope)
    case 'JoinedStr':
      return evaluateFormatted(rt, node, scope)
    case 'Set':
      return evaluateSet(rt, node, scope)
    case 'Comprehension':
      return evaluateComprehension(rt, node, scope)
    case 'DictComprehension':
      return evaluateDictComprehension(rt, node, scope)
    case 'Lambda':
      return makeFunction(rt, node, scope, '<lambda>')
    case 'Slice':
      return evaluateSlice(rt, node, scope)
    case 'Starred':
      return evaluate(rt, node.value, scope)
    case 'Bytes':
      return makeBytes(node.value)
    case 'NamedExpr': {
      const value = evaluate(rt, node.value, scope)
      bindNameOutside(scope, node.target, value)
      return value
    }
    case 'Await':
      return evaluateAwait(rt, evaluate(rt, node.value, scope))
    case 'Yield':
      return evaluateYield(rt, node, scope)
    case 'YieldFrom':
      return evaluateYieldFrom(rt, node, scope)
  }
}

function valueOfConstant({ value }: Constant): Value {
  if (value === undefined) return makeUnknown('number')
  return typeof value === 'object' && value !== null ? ELLIPSIS : value
}

function evaluateBinary(rt: Runtime, node: BinOp, scope: Scope): Value {
  let value = evaluate(rt, node.left, scope)
  for (const { op, value: right } of node.rights)
    value = binary(rt, op, value, evaluate(rt, right, scope))
  return value
}

function evaluateUnary(rt: Runtime, node: UnaryOp, scope: Scope): Value {
  const operand = evaluate(rt, node.operand, scope)
  if (node.op === 'not') {
    const truth = truthOf(rt, operand)
    return truth === undefined ? makeUnknown('not') : !truth
  }
  return negate(rt, node.op, operand)
}

function evaluateSlice(rt: Runtime, node: Slice, scope: Scope): Value {
  const part = (from: Expression | undefined) =>
    from === undefined ? null : evaluate(rt, from, scope)
  return { kind: 'slice', start: part(node.lower), stop: part(node.upper), step: part(node.step) }
}

/** Evaluates a whole expression of a statement: an error of ours (the stack, mostly) makes it unknown. */
export function evaluateSafely(rt: Runtime, node: Expression, scope: Scope): Value {
  const { state } = rt
  const { nesting, depth, scope: running } = state
  try {
    return evaluate(rt, node, scope)
  } catch (error) {
    if (error instanceof Raised || error instanceof BudgetSpent) throw error
    // RangeError: the stack, or a value larger than JavaScript allows.
    recordError(rt, error, node.line)
    return makeUnknown('expression')
  } finally {
    state.nesting = nesting
    state.depth = depth
    state.scope = running
  }
}

/** Remembers an error of JavaScript: a full stack, or a mistake of ours. */
export function recordError(rt: Runtime, error: unknown, line: number): void {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  rt.state.guesses += 1
  rt.state.notes.push({ kind: 'error', file: rt.state.scope.module.file ?? '', line, message })
}

/**
 * The value of an annotation; unknown where it raises: it may name what is defined later, or be text that Python never
 * evaluates.
 */
export function evaluateAnnotation(rt: Runtime, node: Expression, scope: Scope): Value {
  const { value } = attempt(rt, () => {
    rt.state.handlers = []
    return evaluateSafely(rt, node, scope)
  })
  return orElse(value, () => makeUnknown('annotation'))
}

/** Runs a coroutine, or gives what an awaitable of the library holds; all else is the result already. */
export function evaluateAwait(rt: Runtime, value: Value): Value {
  if (isIterator(value) && value.type === 'coroutine') {
    value.next()
    return value.returned ?? null
  }
  if (!isInstanceValue(value) || value.cls.home === 'pack') return value
  return callSpecial(rt, value, '__await__', []) ?? value
}

function evaluateYield(rt: Runtime, node: Yield, scope: Scope): Value {
  give(rt, scope, node.value ? evaluate(rt, node.value, scope) : null)
  return null
}

function evaluateYieldFrom(rt: Runtime, node: YieldFrom, scope: Scope): Value {
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
  const { block } = frame
  if (block) {
    frame.block = undefined
    return block(value)
  }
  if (rt.state.repeating > 0) frame.maybeYielded = true
  if (frame.yielded.length < rt.budget.limits.forItems) frame.yielded.push(value)
  else {
    rt.budget.spent('items')
    frame.maybeYielded = true
  }
}
