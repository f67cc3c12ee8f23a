import { isSet } from '../values/guards.ts'
import { readItems } from '../operate/iterate.ts'
import { evaluate } from './expression.ts'
import { makeEmptyDict, makeUnknown } from '../values/make-value.ts'
import { addToDict, asNew, makeSet, setEntry } from '../operate/mapping.ts'
import type { Runtime } from '../runtime.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { Dict, Expression, List, Set, Tuple } from '../../python/ast.ts'

/** `[a, *b]`, `(a, *b)`. */
export function evaluateSequence(rt: Runtime, node: Tuple | List, scope: Scope): Value {
  const { items, rest } = evaluateItems(rt, node.items, scope)
  if (!rt.budget.allowItems(items.length)) return makeUnknown('items')
  return { kind: node.kind === 'List' ? 'list' : 'tuple', items, rest }
}

/** Expressions with stars among them. */
export function evaluateItems(
  rt: Runtime,
  nodes: readonly Expression[],
  scope: Scope,
): { items: Value[]; rest: boolean } {
  const items: Value[] = []
  let rest = false
  for (const node of nodes) {
    const value = evaluate(rt, node, scope)
    if (node.kind !== 'Starred') {
      items.push(value)
      continue
    }
    const read = readItems(rt, value)
    // Not spread into push: the stack can't take many arguments.
    for (const item of read.items) items.push(item)
    rest ||= read.rest
  }
  return { items, rest }
}

/** `{a, *b}`. */
export function evaluateSet(rt: Runtime, node: Set, scope: Scope): Value {
  const { items, rest } = evaluateItems(rt, node.items, scope)
  if (!rt.budget.allowItems(items.length)) return makeUnknown('items')
  const set = makeSet(rt, items)
  if (isSet(set) && rest) set.rest = true
  return set
}

/** `{a: b, **c}`. */
export function evaluateDict(rt: Runtime, node: Dict, scope: Scope): Value {
  if (!rt.budget.allowItems(node.items.length)) return makeUnknown('items')
  const dict = makeEmptyDict()
  for (const { key, value } of node.items) {
    if (key === undefined) addToDict(rt, dict, evaluate(rt, value, scope))
    else {
      const hashed = evaluate(rt, key, scope)
      setEntry(rt, dict, hashed, evaluate(rt, value, scope))
    }
  }
  return asNew(rt, dict)
}
