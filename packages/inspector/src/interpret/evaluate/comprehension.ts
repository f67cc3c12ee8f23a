import { assignTarget, evaluate } from '../run-code.ts'
import { isSet } from '../values/read-value.ts'
import { truthOf } from '../operate/truth.ts'
import { inOne, iterate } from '../operate/iterate.ts'
import { asNew, makeSet, setEntry } from '../operate/mapping.ts'
import { closureScope, stepOf } from './name.ts'
import { runUnsure } from '../execute/branch.ts'
import { makeEmptyDict, makeIterator, makeList, makeUnknown, mark } from '../values/make-value.ts'
import { nodesWithin } from '../../python/nodes-within.ts'
import type { IteratorValue, Runtime, Scope, Value } from '../types.ts'
import type {
  Comprehension,
  ComprehensionClause,
  DictComprehension,
  Expression,
} from '../../python/ast.ts'

/** A list or set comprehension, or a generator expression, which runs as far as it is asked. */
export function evaluateComprehension(rt: Runtime, node: Comprehension, scope: Scope): Value {
  const run = start(rt, node.clauses, scope)
  if (node.of === 'generator') return makeGenerator(rt, node, run)
  const items: Value[] = []
  const maybe: Value[] = []
  for (const inner of eachRound(rt, run)) {
    items.push(evaluate(rt, node.element, inner))
    if (run.isUnsure) maybe.push(items.at(-1) ?? null)
    if (items.length > rt.budget.limits.containerItems) run.rest = true
    if (items.length > rt.budget.limits.containerItems) break
  }
  if (run.rest) runOnce(rt, run, [node.element])
  if (!rt.budget.allowItems(items.length)) return makeUnknown('items')
  if (node.of === 'list') {
    const list = makeList(items, run.rest)
    if (maybe.length > 0) list.maybe = new Set(maybe)
    if (run.unordered) list.unordered = new Set(items)
    return list
  }
  const set = makeSet(rt, items)
  if ((run.rest || maybe.length > 0) && isSet(set)) set.rest = true
  return set
}

export function evaluateDictComprehension(
  rt: Runtime,
  node: DictComprehension,
  scope: Scope,
): Value {
  const run = start(rt, node.clauses, scope)
  const dict = makeEmptyDict()
  for (const inner of eachRound(rt, run)) {
    const key = evaluate(rt, node.key, inner)
    const value = evaluate(rt, node.value, inner)
    const set = () => {
      setEntry(rt, dict, key, value)
      return undefined
    }
    if (run.isUnsure) runUnsure(rt, set)
    else set()
  }
  if (run.rest) runOnce(rt, run, [node.key, node.value])
  if (!rt.budget.allowItems(dict.values.size)) return makeUnknown('items')
  if (run.rest) dict.rest = true
  return asNew(rt, dict)
}

interface Run {
  clauses: ComprehensionClause[]
  /** The first clause is evaluated outside. */
  first: Value
  scope: Scope
  /** An unknown was iterated, or a container with an unknown rest. */
  rest: boolean
  /** A condition of this round could not be decided. */
  isUnsure: boolean
  /** The order of what was iterated is unknown. */
  unordered: boolean
}

function start(rt: Runtime, clauses: ComprehensionClause[], scope: Scope): Run {
  const [clause] = clauses
  const first = clause ? evaluate(rt, clause.iter, scope) : null
  return {
    clauses,
    first,
    scope: {
      ...closureScope(scope),
      kind: 'comprehension',
      names: new Map(),
      declared: undefined,
      parent: closureScope(scope),
      frame: scope.frame,
      owner: scope.owner,
    },
    rest: false,
    isUnsure: false,
    unordered: false,
  }
}

/**
 * The scope, once for each round that reaches the element. A condition that can't be decided keeps the item. An unknown
 * has no items: it only leaves a rest.
 */
function* eachRound(rt: Runtime, run: Run, index = 0): Generator<Scope> {
  const clause = run.clauses[index]
  if (!clause) {
    yield run.scope
    return
  }
  const source = inOne(index === 0 ? run.first : evaluate(rt, clause.iter, run.scope))
  const iterator = iterate(rt, source)
  let rounds = 0
  for (let item = iterator?.next(); item !== undefined; item = iterator?.next()) {
    rounds += 1
    rt.budget.step(stepOf(run.scope))
    if (rounds > rt.budget.limits.forItems) {
      rt.budget.spent('items')
      run.rest = true
      return
    }
    assignTarget(rt, clause.target, item, run.scope)
    const { isUnsure } = run
    if (iterator?.maybe?.has(item)) run.isUnsure = true
    run.unordered ||= iterator?.unordered !== undefined
    if (holds(rt, clause.conditions, run)) yield* eachRound(rt, run, index + 1)
    run.isUnsure = isUnsure
  }
  if (iterator === undefined || iterator.rest) run.rest = true
}

/** A round over items that are not known, for what it calls: its own result is in the rest. */
function runOnce(rt: Runtime, run: Run, elements: readonly Expression[]): void {
  if (![...nodesWithin(elements)].some(({ kind }) => kind === 'Call')) return
  rt.state.repeating += 1
  runUnsure(rt, () => {
    for (const { target } of run.clauses) assignTarget(rt, target, makeUnknown('item'), run.scope)
    for (const element of elements) evaluate(rt, element, run.scope)
    return undefined
  })
  rt.state.repeating -= 1
}

function holds(rt: Runtime, conditions: readonly Expression[], run: Run): boolean {
  return conditions.every((condition) => {
    const truth = truthOf(rt, evaluate(rt, condition, run.scope))
    if (truth === undefined) run.isUnsure = true
    return truth !== false
  })
}

function makeGenerator(rt: Runtime, node: Comprehension, run: Run): IteratorValue {
  const rounds = eachRound(rt, run)
  const generator = makeIterator('generator', () => {
    const { value: inner, done } = rounds.next()
    if (!done) {
      const item = evaluate(rt, node.element, inner)
      if (run.unordered) mark(generator, 'unordered', item)
      if (run.isUnsure) mark(generator, 'maybe', item)
      return item
    }
    if (run.rest && !generator.rest) runOnce(rt, run, [node.element])
    generator.rest = run.rest
    return undefined
  })
  return generator
}
