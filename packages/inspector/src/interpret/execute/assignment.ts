import { evaluateSafely } from '../evaluate/expression.ts'
import { bindName, lookUpName } from '../evaluate/name.ts'
import { getAttribute } from '../operate/attribute.ts'
import { callSpecial } from '../operate/call.ts'
import { getItem } from '../operate/item.ts'
import { readItems } from '../operate/iterate.ts'
import { addToDict } from '../operate/mapping.ts'
import { binary, METHODS } from '../operate/operator.ts'
import { raiseIfCertain } from '../operate/raise.ts'
import { deleteAttribute, setAttribute } from '../operate/set-attribute.ts'
import { deleteItem, setItem } from '../operate/set-item.ts'
import type { ListValue, Runtime, Scope, SetValue, Value } from '../types.ts'
import {
  isNotImplemented,
  isObject,
  isSequence,
  isUnknown,
  payloadOf,
} from '../values/read-value.ts'
import { inheritUndecided, makeList, makeUnknown, mark, orElse } from '../values/make-value.ts'
import { anyOf } from '../values/merge-values.ts'
import type { AugAssign, Expression } from '../../python/ast.ts'

/** Binds a target: a name, attribute, item, or a list of targets. */
export function assignTarget(rt: Runtime, target: Expression, value: Value, scope: Scope): void {
  switch (target.kind) {
    case 'Name':
      bindName(scope, target.id, value)
      return
    case 'Attribute':
      setAttribute(rt, evaluateSafely(rt, target.value, scope), target.attr, value)
      return
    case 'Subscript': {
      const container = evaluateSafely(rt, target.value, scope)
      setItem(rt, container, evaluateSafely(rt, target.index, scope), value)
      return
    }
    case 'Tuple':
    case 'List':
      unpack(rt, target.items, value, scope)
      return
    case 'Starred':
      assignTarget(rt, target.value, value, scope)
  }
}

/** `a, *b, c = value`. What is missing is unknown. */
function unpack(rt: Runtime, targets: Expression[], value: Value, scope: Scope): void {
  const read = readItems(rt, value)
  const { rest } = read
  const { unordered } = isSequence(value) ? value : {}
  const items = read.items.map((item) => (unordered?.has(item) ? anyOf([...unordered]) : item))
  const { length } = targets
  const star = targets.findIndex((target) => target.kind === 'Starred')
  const item = (index: number) => orElse(items[index], () => makeUnknown('item[]', originOf(value)))
  if (!rest && (star < 0 ? items.length !== length : items.length < length - 1))
    raiseIfCertain(rt, 'ValueError', `expected ${length} values to unpack`)
  if (star < 0) {
    for (const [index, target] of targets.entries()) assignTarget(rt, target, item(index), scope)
    return
  }
  const after = targets.length - star - 1
  const end = Math.max(star, items.length - after)
  for (const [index, target] of targets.entries()) {
    if (index < star) assignTarget(rt, target, item(index), scope)
    else if (index === star) assignTarget(rt, target, makeList(items.slice(star, end), rest), scope)
    else assignTarget(rt, target, rest ? item(-1) : item(end + index - star - 1), scope)
  }
}

function originOf(value: Value) {
  return isUnknown(value) ? value.origin : 'pack'
}

/** `target op= value`. The target's parts are evaluated once. */
export function augmentTarget(rt: Runtime, node: AugAssign, scope: Scope): undefined {
  const { target, op } = node
  if (target.kind === 'Name') {
    const before = lookUpName(rt, scope, target.id)
    bindName(scope, target.id, augment(rt, op, before, evaluateSafely(rt, node.value, scope)))
  } else if (target.kind === 'Attribute') {
    const object = evaluateSafely(rt, target.value, scope)
    const before = getAttribute(rt, object, target.attr)
    const after = augment(rt, op, before, evaluateSafely(rt, node.value, scope))
    setAttribute(rt, object, target.attr, after)
  } else if (target.kind === 'Subscript') {
    const container = evaluateSafely(rt, target.value, scope)
    const key = evaluateSafely(rt, target.index, scope)
    const before = getItem(rt, container, key)
    setItem(rt, container, key, augment(rt, op, before, evaluateSafely(rt, node.value, scope)))
  }
}

/** `del target`. */
export function deleteTarget(rt: Runtime, target: Expression, scope: Scope): void {
  switch (target.kind) {
    case 'Name':
      ;(scope.declared?.get(target.id) ?? scope).names.delete(target.id)
      return
    case 'Attribute':
      deleteAttribute(rt, evaluateSafely(rt, target.value, scope), target.attr)
      return
    case 'Subscript':
      deleteItem(
        rt,
        evaluateSafely(rt, target.value, scope),
        evaluateSafely(rt, target.index, scope),
      )
      return
    case 'Tuple':
    case 'List':
      for (const item of target.items) deleteTarget(rt, item, scope)
  }
}

/** `left op= right`: lists, sets and dicts change in place. */
function augment(rt: Runtime, op: string, left: Value, right: Value): Value {
  const own = callSpecial(rt, left, `__i${METHODS.get(op)}__`, [right])
  if (own !== undefined && !isNotImplemented(own)) return own
  const target = payloadOf(left)
  if (!isObject(target)) return binary(rt, op, left, right)
  if (op === '+' && target.kind === 'list') {
    extendList(rt, target, right)
    return left
  }
  if (op === '|' && target.kind === 'dict') {
    addToDict(rt, target, right)
    return left
  }
  if (target.kind === 'list' || (target.kind === 'set' && !target.frozen))
    return augmentWhole(target, left, binary(rt, op, target, right))
  return binary(rt, op, left, right)
}

/** Puts the result in the place of the content. */
function augmentWhole(target: ListValue | SetValue, left: Value, result: Value): Value {
  if (isObject(result) && result.kind === target.kind)
    Object.assign(target, { items: result.items, rest: result.rest })
  else target.rest = true
  return left
}

/**
 * In a loop of unknown length there may be more of what its one round adds. What a branch of an undecided test adds may
 * not be there.
 */
export function recordAdding(rt: Runtime, list: ListValue, items: readonly Value[]): void {
  if (list.rest) rt.state.guesses += 1
  if (rt.state.repeating > 0) list.rest = true
  if (rt.state.added) for (const item of items) mark(list, 'maybe', item)
}

/** `list.extend`. */
export function extendList(rt: Runtime, list: ListValue, value: Value): void {
  const { items, rest } = readItems(rt, value)
  if (rest) list.rest = true
  recordAdding(rt, list, items)
  inheritUndecided(list, payloadOf(value))
  if (!rt.budget.allowItems(list.items.length + items.length)) {
    list.rest = true
    return
  }
  for (const item of items) list.items.push(item)
}
